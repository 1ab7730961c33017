import { setTimeout as sleep } from 'node:timers/promises';
import { IssuerKeys } from '../../../../platform/identity/issuer-keys.js';
import type { OutboundClient } from '../../../../platform/outbound/outbound-client.js';
import type { FileHead } from '../../../turns/turns.api.js';
import type { ApprovalCard } from '../../approvals/approval-card.js';
import {
  type AdapterData,
  type AdapterParts,
  ChannelAdapter,
  credential,
  type FetchedFile,
  type InboundFile,
  type OutboundFile,
  type OutboundReply,
  type ReceiverLink,
} from '../../channel-adapter.port.js';
import { ChannelUnreachable, FileNotHad, NotSent } from '../../channel-failures.js';
import { teamsMarkdown, teamsPlainText } from '../../formatting/teams-markdown.js';
import { download } from '../../inbound/file-download.js';
import { ADAPTIVE_CARD, teamsCard } from './teams-cards.js';
import { TeamsClient, TeamsToken, TooLong } from './teams-client.js';
import {
  consentCard,
  type FileUpload,
  fileCard,
  pictureIn,
  shownAs,
  type TeamsAttachment,
} from './teams-files.js';
import { type ConnectorClaims, ConnectorKeys, connectorClaims } from './teams-keys.js';

const MAX_REPLY_LENGTH = 8000;
/** In code units with its marks and escapes; Teams takes at least 28 KB in UTF-16. What would be longer goes as plain text. */
const MAX_FORMATTED_LENGTH = 13_000;
const NO_KEYS = "the keys of Microsoft's connector cannot be fetched, so no message can be verified";
/** How often the credentials are checked. */
const CHECK_MS = 60_000;
/** For a whole file to OneDrive. */
const UPLOAD_MS = 60_000;
/** A file takes longer than a call. */
const TIMES_LONGER = 3;
const NOT_IN_GROUPS =
  'in channels and group chats Teams takes pictures of at most 1 MB from me, and no other files';

/**
 * A bot of Microsoft Teams. The connector posts activities to `/inbound/<channel>/messages` of any replica, and answers go
 * to the address that it names, which its signed token confirms (Bot Framework, REST).
 */
export class TeamsAdapter extends ChannelAdapter {
  readonly maxReplyLength = MAX_REPLY_LENGTH;
  readonly tenantId: string;
  private readonly token: TeamsToken;
  private readonly client: TeamsClient;
  private readonly keys: IssuerKeys;
  private readonly connector: ConnectorKeys;
  private readonly outbound: OutboundClient;
  private readonly appId: string;
  private readonly issuer: string;
  private readonly timeoutMs: number;

  constructor({ name, settings, environment, outbound, logger }: AdapterParts) {
    super();
    const { app_secret, app_secret_env, assertion_file: assertionFile } = settings;
    this.outbound = outbound;
    this.appId = settings.app_id;
    this.tenantId = settings.tenant_id;
    this.issuer = settings.issuer;
    this.timeoutMs = settings.request_timeout_ms;
    this.token = new TeamsToken(outbound, {
      appId: this.appId,
      tenantId: settings.tenant_id,
      loginUrl: settings.login_url.replace(/\/$/, ''),
      secret: assertionFile === '' ? credential(app_secret, app_secret_env, environment) : '',
      assertionFile,
      timeoutMs: this.timeoutMs,
    });
    this.client = new TeamsClient(outbound, this.token, this.timeoutMs);
    this.connector = new ConnectorKeys(outbound, settings.openid_url);
    this.keys = new IssuerKeys({ fetch: this.connector.fetch, logger, issuer: `${this.issuer} (${name})` });
  }

  /** Undefined unless the connector issued the token to this app. Throws `Unavailable` without its keys. */
  claims(token: string): Promise<ConnectorClaims | undefined> {
    const { issuer, keys, appId: audience } = this;
    // Activities come to any replica, but only one runs `receive`.
    void keys.refreshWhenDue();
    return connectorClaims(token, { issuer, audience, keys, endorsementsOf: this.connector.endorsementsOf });
  }

  /** Messages arrive through the listeners; what is watched here are the credentials, and the keys that messages need. */
  async receive(link: ReceiverLink, signal: AbortSignal): Promise<void> {
    await this.check(signal);
    while (!signal.aborted) {
      await this.token.get(signal);
      await this.keys.refreshWhenDue();
      if (!(await this.keys.available())) throw new ChannelUnreachable(NO_KEYS);
      link.connected();
      await sleep(CHECK_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  async check(signal: AbortSignal): Promise<void> {
    await this.token.renew(signal);
  }

  async send({ target, text }: OutboundReply, signal: AbortSignal): Promise<string | undefined> {
    const url = activitiesOf(target);
    return written(target, text, (activity) => this.client.call({ method: 'POST', url, activity }, signal));
  }

  /**
   * Pictures go within the message. In a personal chat its reader is asked about other files, and `handOver` sends those that
   * they want; elsewhere they would need rights to the organisation's SharePoint.
   */
  override async sendFile(file: OutboundFile, signal: AbortSignal): Promise<string | undefined> {
    const { target } = file;
    const picture = pictureIn(file);
    if (picture === undefined && target['personal'] !== true) throw new NotSent('rejected', NOT_IN_GROUPS);
    return this.attach(target, picture ?? consentCard(file), signal);
  }

  override keepsFile(head: FileHead): boolean {
    return shownAs(head) === undefined;
  }

  /** Puts a file where its reader agreed to, and shows it in place of the card that asked. Throws when it is not there. */
  async handOver(file: AcceptedFile, signal: AbortSignal): Promise<void> {
    const { target, card, data, mimeType, upload } = file;
    const { status } = await this.outbound.send({
      ...{ method: 'PUT', url: upload.uploadUrl, body: data, timeoutMs: UPLOAD_MS, signal },
      isEncrypted: true,
      // The address carries a permission of its own, so it gets no credential of the bot.
      headers: {
        'content-type': mimeType,
        'content-range': `bytes 0-${data.length - 1}/${data.length}`,
      },
    });
    if (status < 200 || status > 299) throw new Error(`the upload to OneDrive was answered ${status}`);
    await this.attach(target, fileCard(upload), signal);
    await this.removeCard(target, card, signal);
  }

  /** The card stays when Teams does not remove it: nothing depends on it. */
  async removeCard(target: AdapterData, card: string | undefined, signal: AbortSignal): Promise<void> {
    if (card === undefined) return;
    const url = `${activitiesOf(target)}/${encodeURIComponent(card)}`;
    await this.client.call({ method: 'DELETE', url }, signal).catch(() => undefined);
  }

  async tell(target: AdapterData, text: string, signal: AbortSignal): Promise<void> {
    await this.send({ target, text, key: '' }, signal);
  }

  private attach(target: AdapterData, attachment: TeamsAttachment, signal: AbortSignal) {
    const activity = { ...emptyMessage(target), attachments: [attachment] };
    return this.client.call({ method: 'POST', url: activitiesOf(target), activity }, signal);
  }

  override edit(id: string, { target, text }: OutboundReply, signal: AbortSignal): Promise<void> {
    return written(target, text, (message) => this.replace(id, target, message, signal));
  }

  override async sendCard(
    target: AdapterData,
    card: ApprovalCard,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const activity = cardMessageOf(target, card);
    return this.client.call({ method: 'POST', url: activitiesOf(target), activity }, signal);
  }

  override editCard(id: string, target: AdapterData, card: ApprovalCard, signal: AbortSignal): Promise<void> {
    return this.replace(id, target, cardMessageOf(target, card), signal);
  }

  private async replace(id: string, target: AdapterData, message: object, signal: AbortSignal) {
    const url = `${activitiesOf(target)}/${encodeURIComponent(id)}`;
    await this.client
      .call({ method: 'PUT', url, activity: { ...message, id } }, signal)
      .catch((error: unknown) => {
        // An edit may safely be repeated.
        throw error instanceof NotSent ? error.asRetryable() : error;
      });
  }

  override async typing(target: AdapterData, signal: AbortSignal): Promise<void> {
    const activity = { type: 'typing', from: { id: target['bot'] } };
    await this.client.call({ method: 'POST', url: activitiesOf(target), activity }, signal);
  }

  /** The bot's token goes only to the connector that delivered the message. */
  override async fetchFile(file: InboundFile, maxBytes: number, signal: AbortSignal): Promise<FetchedFile> {
    const { url, service } = file.where ?? {};
    const text = String(url);
    const isConnector = typeof service === 'string' && originOf(text) === originOf(service);
    const timeoutMs = this.timeoutMs * TIMES_LONGER;
    const headers = isConnector ? { authorization: `Bearer ${await this.tokenForFile(signal)}` } : {};
    return download(this.outbound, { url: text, headers, maxBytes, timeoutMs, signal });
  }

  private tokenForFile(signal: AbortSignal): Promise<string> {
    return this.token.get(signal).catch(() => {
      throw new FileNotHad('later', 'Microsoft gives me no token');
    });
  }
}

/** A file that its reader agreed to. */
export interface AcceptedFile {
  readonly target: AdapterData;
  /** The card that asked. */
  readonly card: string | undefined;
  readonly data: Buffer;
  readonly mimeType: string;
  readonly upload: FileUpload;
}

function activitiesOf(target: AdapterData): string {
  const service = String(target['service']).replace(/\/?$/, '/');
  return `${service}v3/conversations/${encodeURIComponent(String(target['conversation']))}/activities`;
}

function messageOf(target: AdapterData, markdown: string): object {
  const text = teamsMarkdown(markdown);
  if (text.length > MAX_FORMATTED_LENGTH) return plainMessageOf(target, markdown);
  return { ...emptyMessage(target), textFormat: 'markdown', text };
}

function plainMessageOf(target: AdapterData, markdown: string): object {
  return { ...emptyMessage(target), textFormat: 'plain', text: teamsPlainText(markdown) };
}

/** A message that Teams still finds too long is sent once more as plain text: Teams took none of it. */
async function written<Result>(
  target: AdapterData,
  markdown: string,
  call: (message: object) => Promise<Result>,
): Promise<Result> {
  try {
    return await call(messageOf(target, markdown));
  } catch (error) {
    if (!(error instanceof TooLong)) throw error;
    return call(plainMessageOf(target, markdown));
  }
}

/** `summary` is what a notification shows. */
function cardMessageOf(target: AdapterData, card: ApprovalCard): object {
  const attachments = [{ contentType: ADAPTIVE_CARD, content: teamsCard(card) }];
  return { ...emptyMessage(target), summary: card.outcome ?? card.title, attachments };
}

function emptyMessage(target: AdapterData): object {
  return { type: 'message', from: { id: target['bot'] }, conversation: { id: target['conversation'] } };
}

function originOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).origin : undefined;
}
