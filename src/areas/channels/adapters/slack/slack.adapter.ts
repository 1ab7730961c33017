import { setTimeout as sleep } from 'node:timers/promises';
import type { WebClient } from '@slack/web-api';
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
import { ChannelRefused, ChannelUnreachable, type NotSent } from '../../channel-failures.js';
import { literalText, type SlackContent, slackContent } from '../../formatting/slack-blocks.js';
import { slackCard } from './slack-cards.js';
import {
  connectionFailure,
  isRefusal,
  isRefusedForm,
  type SlackAccess,
  sendFailure,
  slackApi,
} from './slack-client.js';
import { SlackConnection } from './slack-connection.js';
import { fetchSlackFile, sendSlackFile } from './slack-files.js';
import { SlackInbox, SlackPeople } from './slack-inbox.js';
import { isId, revokesAccess, type SlackBot } from './slack-messages.js';

/** Interval of token checks: an open connection does not reveal that the bot token was revoked, unless the app subscribes to it. */
const TOKEN_CHECK_MS = 30_000;

/** A Slack bot in socket mode: the gateway opens a WebSocket, so that it need not be reachable from outside. */
export class SlackAdapter extends ChannelAdapter {
  /** An edit may have 4000 characters, and escaping makes `&`, `<` and `>` longer. */
  readonly maxReplyLength = 3500;
  private readonly outbound: OutboundClient;
  private readonly access: SlackAccess & { readonly token: string; readonly appToken: string };
  private readonly people = new SlackPeople();
  /** Aborted when there is reason to check the token at once. */
  private checkToken = new AbortController();

  constructor({ settings, environment, outbound }: AdapterParts) {
    super();
    const { token, token_env, app_token, app_token_env } = settings;
    this.outbound = outbound;
    this.access = {
      token: credential(token, token_env, environment),
      appToken: credential(app_token, app_token_env, environment),
      apiUrl: settings.api_url,
      timeoutMs: settings.request_timeout_ms,
    };
  }

  async receive(link: ReceiverLink, signal: AbortSignal): Promise<void> {
    const bot = await this.identify(signal);
    const connection = new SlackConnection(this.outbound, this.access);
    const over = new AbortController();
    try {
      await connection.open(signal);
      link.connected();
      const lasting = AbortSignal.any([signal, over.signal]);
      const api = this.api(lasting);
      const inbox = new SlackInbox({ link, bot, api, people: this.people, signal: lasting });
      await untilFirstEnds([this.receiveAll(connection, inbox), this.watchToken(lasting)], () => {
        over.abort();
        return connection.close();
      });
    } finally {
      await connection.close();
    }
  }

  async check(signal: AbortSignal): Promise<void> {
    await this.identify(signal);
  }

  async send({ target, text }: OutboundReply, signal: AbortSignal): Promise<string | undefined> {
    const { channel, thread } = addressOf(target);
    const at = thread === undefined ? {} : { thread_ts: thread };
    try {
      // Slack must not fetch the links of an answer just because it was posted.
      const address = { channel, ...at, unfurl_links: false, unfurl_media: false };
      const { ts } = await this.formatted(text, (content) =>
        this.api(signal).chat.postMessage({ ...address, ...content }),
      );
      return ts;
    } catch (error) {
      throw this.notSent(error);
    }
  }

  override async edit(ts: string, { target, text }: OutboundReply, signal: AbortSignal): Promise<void> {
    const { channel } = addressOf(target);
    try {
      await this.formatted(text, (content) => this.api(signal).chat.update({ channel, ts, ...content }));
    } catch (error) {
      // An edit may safely be repeated.
      throw this.notSent(error).asRetryable();
    }
  }

  override async sendCard(
    target: AdapterData,
    card: ApprovalCard,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const { channel, thread } = addressOf(target);
    const at = thread === undefined ? {} : { thread_ts: thread };
    try {
      const { ts } = await this.api(signal).chat.postMessage({ channel, ...at, ...slackCard(card) });
      return ts;
    } catch (error) {
      throw this.notSent(error);
    }
  }

  override async editCard(
    ts: string,
    target: AdapterData,
    card: ApprovalCard,
    signal: AbortSignal,
  ): Promise<void> {
    try {
      await this.api(signal).chat.update({ channel: addressOf(target).channel, ts, ...slackCard(card) });
    } catch (error) {
      throw this.notSent(error).asRetryable();
    }
  }

  override async sendFile(file: OutboundFile, signal: AbortSignal): Promise<undefined> {
    const { outbound, access } = this;
    const { channel, thread } = addressOf(file.target);
    const target = { channel, ...(thread === undefined ? {} : { thread }) };
    await sendSlackFile(file, { outbound, access, target, signal, api: this.api(signal) });
  }

  override fetchFile(file: InboundFile, maxBytes: number, signal: AbortSignal): Promise<FetchedFile> {
    const { outbound, access } = this;
    return fetchSlackFile(file, { outbound, access, maxBytes, signal, api: this.api(signal) });
  }

  /** Sends formatted text, and what was written when Slack refuses its form: then it has not been sent. */
  private async formatted<Result>(
    markdown: string,
    send: (content: SlackContent) => Promise<Result>,
  ): Promise<Result> {
    const content = slackContent(markdown, this.maxReplyLength);
    try {
      return await send(content);
    } catch (error) {
      if (content.blocks.length === 0 || !isRefusedForm(error)) throw error;
      return send({ text: literalText(markdown), blocks: [] });
    }
  }

  private async receiveAll(connection: SlackConnection, inbox: SlackInbox): Promise<void> {
    await inbox.catchUp();
    for (;;) {
      const envelopes = await connection.next();
      if (envelopes.some(revokesAccess)) this.checkToken.abort();
      await inbox.receive(envelopes);
    }
  }

  /** Throws `ChannelRefused` once the token is refused. Ignores other failures: the connection shows whether Slack is there. */
  private async watchToken(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const either = AbortSignal.any([signal, this.checkToken.signal]);
      await sleep(TOKEN_CHECK_MS, undefined, { signal: either }).catch(() => undefined);
      this.checkToken = new AbortController();
      await this.identify(signal).catch((error: unknown) => {
        if (error instanceof ChannelRefused) throw error;
      });
    }
  }

  private async identify(signal: AbortSignal): Promise<SlackBot> {
    try {
      const { team_id: team = '', user_id: user = '', bot_id: bot } = await this.api(signal).auth.test();
      if (bot === undefined) throw new ChannelRefused('the token is valid but not a bot token (xoxb-)');
      if (!isId(team) || !isId(user)) throw new ChannelUnreachable('Slack did not name the bot');
      return { team, user };
    } catch (error) {
      throw connectionFailure(error);
    }
  }

  private notSent(error: unknown): NotSent {
    if (isRefusal(error)) this.checkToken.abort();
    return sendFailure(error);
  }

  private api(signal: AbortSignal): WebClient {
    return slackApi(this.outbound, this.access, signal);
  }
}

/** The first one to end ends the others, and this resolves after all of them have ended. */
async function untilFirstEnds(works: readonly Promise<void>[], end: () => Promise<void>): Promise<void> {
  try {
    await Promise.race(works);
  } finally {
    await end();
    await Promise.allSettled(works);
  }
}

function addressOf(target: AdapterData): { channel: string; thread: string | undefined } {
  const { channel, thread } = target;
  return { channel: String(channel), thread: typeof thread === 'string' ? thread : undefined };
}
