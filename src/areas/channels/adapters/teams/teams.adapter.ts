import { setTimeout as sleep } from 'node:timers/promises';
import { IssuerKeys } from '../../../../platform/identity/issuer-keys.js';
import type { OutboundClient } from '../../../../platform/outbound/outbound-client.js';
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
import { FileNotHad, NotSent } from '../../channel-failures.js';
import { teamsMarkdown } from '../../formatting/teams-markdown.js';
import { download } from '../../inbound/file-download.js';
import { ADAPTIVE_CARD, teamsCard } from './teams-cards.js';
import { TeamsClient, TeamsToken } from './teams-client.js';
import { type ConnectorClaims, ConnectorKeys, connectorClaims } from './teams-keys.js';

/** Teams takes messages of about 28 KB, as HTML; formatting makes them longer. */
const MAX_REPLY_LENGTH = 8000;
/** How often the credentials are checked. */
const CHECK_MS = 60_000;
/** What Teams shows of pictures within messages. */
const PICTURE_TYPES = new Set(['image/png', 'image/jpeg', 'image/gif']);
const MAX_PICTURE_BYTES = 1_000_000;
/** A file takes longer than a call. */
const TIMES_LONGER = 3;

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

  /** Undefined when the token is none of the connector's for this app. Throws `Unavailable` without its keys. */
  claims(token: string): Promise<ConnectorClaims | undefined> {
    const { issuer, keys, appId: audience } = this;
    // Activities come to any replica, and one alone receives.
    void keys.refreshWhenDue();
    return connectorClaims(token, { issuer, audience, keys, endorsementsOf: this.connector.endorsementsOf });
  }

  /** Messages arrive through the listeners; what is watched here are the credentials. */
  async receive(link: ReceiverLink, signal: AbortSignal): Promise<void> {
    await this.check(signal);
    while (!signal.aborted) {
      await this.token.get(signal);
      link.connected();
      await this.keys.refreshWhenDue();
      await sleep(CHECK_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  async check(signal: AbortSignal): Promise<void> {
    await this.token.renew(signal);
  }

  async send({ target, text }: OutboundReply, signal: AbortSignal): Promise<string | undefined> {
    const url = activitiesOf(target);
    return this.client.call({ method: 'POST', url, activity: messageOf(target, text) }, signal);
  }

  /** Pictures go within the message; other files would need rights to the organisation's SharePoint. */
  override async sendFile(file: OutboundFile, signal: AbortSignal): Promise<string | undefined> {
    const { target, name, mimeType: contentType, data } = file;
    if (!PICTURE_TYPES.has(contentType) || data.length > MAX_PICTURE_BYTES)
      throw new NotSent('rejected', 'Teams takes pictures of at most 1 MB from me, and no other files');
    const contentUrl = `data:${contentType};base64,${data.toString('base64')}`;
    const activity = { ...messageOf(target, ''), attachments: [{ name, contentType, contentUrl }] };
    return this.client.call({ method: 'POST', url: activitiesOf(target), activity }, signal);
  }

  override edit(id: string, { target, text }: OutboundReply, signal: AbortSignal): Promise<void> {
    return this.replace(id, target, messageOf(target, text), signal);
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

function activitiesOf(target: AdapterData): string {
  const service = String(target['service']).replace(/\/?$/, '/');
  return `${service}v3/conversations/${encodeURIComponent(String(target['conversation']))}/activities`;
}

function messageOf(target: AdapterData, text: string): object {
  return { ...emptyMessage(target), textFormat: 'markdown', text: teamsMarkdown(text) };
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
