import { setTimeout as sleep } from 'node:timers/promises';
import type { WebClient } from '@slack/web-api';
import type { OutboundClient } from '../../../../platform/outbound/outbound-client.js';
import {
  type AdapterData,
  type AdapterParts,
  ChannelAdapter,
  credential,
  type OutboundReply,
  type ReceiverLink,
} from '../../channel-adapter.port.js';
import { ChannelRefused, ChannelUnreachable, type NotSent } from '../../channel-failures.js';
import { connectionFailure, isRefusal, type SlackAccess, sendFailure, slackApi } from './slack-client.js';
import { SlackConnection } from './slack-connection.js';
import { SlackInbox, SlackPeople } from './slack-inbox.js';
import { isId, literalText, revokesAccess, type SlackBot } from './slack-messages.js';

/** While the connection stands nothing tells of a bot's token that was revoked, unless the app asks to be told. */
const ASK_MS = 30_000;

/** A bot of Slack's in socket mode: a WebSocket that the gateway opens, so that nothing has to be reachable from outside. */
export class SlackAdapter extends ChannelAdapter {
  /** An edit takes 4000 characters; `&`, `<` and `>` become several. */
  readonly longestReply = 3500;
  private readonly outbound: OutboundClient;
  private readonly access: SlackAccess & { readonly token: string; readonly appToken: string };
  private readonly people = new SlackPeople();
  /** Aborted when there is reason to ask whether the token is still taken. */
  private doubt = new AbortController();

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
    const bot = await this.whoAmI(signal);
    const connection = new SlackConnection(this.outbound, this.access);
    const over = new AbortController();
    try {
      await connection.open(signal);
      link.connected();
      const lasting = AbortSignal.any([signal, over.signal]);
      const api = this.api(lasting);
      const inbox = new SlackInbox({ link, bot, api, people: this.people, signal: lasting });
      await untilOneEnds([this.receiveAll(connection, inbox), this.keepPolling(lasting)], () => {
        over.abort();
        return connection.close();
      });
    } finally {
      await connection.close();
    }
  }

  async check(signal: AbortSignal): Promise<void> {
    await this.whoAmI(signal);
  }

  async send({ target, text }: OutboundReply, signal: AbortSignal): Promise<string | undefined> {
    const { channel, thread } = addressOf(target);
    const at = thread === undefined ? {} : { thread_ts: thread };
    try {
      const { ts } = await this.api(signal).chat.postMessage({
        channel,
        ...at,
        text: literalText(text),
        // Nobody is to fetch what an answer links to just because it was said.
        unfurl_links: false,
        unfurl_media: false,
      });
      return ts;
    } catch (error) {
      throw this.notSent(error);
    }
  }

  override async edit(ts: string, { target, text }: OutboundReply, signal: AbortSignal): Promise<void> {
    const { channel } = addressOf(target);
    try {
      await this.api(signal).chat.update({ channel, ts, text: literalText(text) });
    } catch (error) {
      // Twice the same edit is one.
      throw this.notSent(error).asAgain();
    }
  }

  private async receiveAll(connection: SlackConnection, inbox: SlackInbox): Promise<void> {
    await inbox.catchUp();
    for (;;) {
      const envelopes = await connection.next();
      if (envelopes.some(revokesAccess)) this.doubt.abort();
      await inbox.receive(envelopes);
    }
  }

  /** Throws `ChannelRefused` as soon as the token is refused; whether Slack is there, the connection tells. */
  private async keepPolling(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const either = AbortSignal.any([signal, this.doubt.signal]);
      await sleep(ASK_MS, undefined, { signal: either }).catch(() => undefined);
      this.doubt = new AbortController();
      await this.whoAmI(signal).catch((error: unknown) => {
        if (error instanceof ChannelRefused) throw error;
      });
    }
  }

  private async whoAmI(signal: AbortSignal): Promise<SlackBot> {
    try {
      const { team_id: team = '', user_id: user = '', bot_id: bot } = await this.api(signal).auth.test();
      if (bot === undefined) throw new ChannelRefused("Slack knows the token, but not as a bot's (xoxb-)");
      if (!isId(team) || !isId(user)) throw new ChannelUnreachable('Slack does not say who the bot is');
      return { team, user };
    } catch (error) {
      throw connectionFailure(error);
    }
  }

  private notSent(error: unknown): NotSent {
    if (isRefusal(error)) this.doubt.abort();
    return sendFailure(error);
  }

  private api(signal: AbortSignal): WebClient {
    return slackApi(this.outbound, this.access, signal);
  }
}

/** Whichever ends first ends the others, and nothing of them goes on afterwards. */
async function untilOneEnds(works: readonly Promise<void>[], end: () => Promise<void>): Promise<void> {
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
