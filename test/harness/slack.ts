import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { channelEnv } from './channels.js';
import { completeAnswers } from './complete-answers.js';
import { eventually } from './eventually.js';
import { type SlackEvent, SlackSockets } from './slack-sockets.js';

export const SLACK_BOT_TOKEN = 'xoxb-4711147-canaryTokenOfATestBotThatIsNobodys';
export const SLACK_APP_TOKEN = 'xapp-1-canaryTokenOfATestAppThatIsNobodys';
export const BOT = 'UGATEWAY';
const TEAM = 'T000000001';
const SCOPES =
  'chat:write files:write channels:read channels:history groups:read groups:history im:read im:write im:history mpim:read mpim:history users:read channels:join'.split(
    ' ',
  );

type Json = Record<string, unknown>;

export interface SlackCall {
  readonly method: string;
  readonly body: Json;
}

/** A file that the bot shared. */
interface SharedAtSlack {
  readonly channel: string;
  readonly thread: string | undefined;
  readonly name: string;
  readonly data: Buffer;
}

export interface SaidAtSlack {
  readonly channel: string;
  readonly thread: string | undefined;
  readonly ts: string;
  readonly text: string;
  /** As JSON, when there are any. */
  readonly blocks: string | undefined;
}

/** What happens to the next call of a method: another response instead of Slack's, or Slack's response is lost. */
export type SlackFailure = 'its answer is lost' | Json | ((response: ServerResponse) => void);

export interface Writing {
  readonly channel: string;
  readonly user?: string;
  readonly thread?: string;
  readonly more?: Json;
}

/**
 * Slack as a bot sees it: the Web API of `emulate` behind a server that adds documented behaviour that `emulate`
 * lacks: socket mode, `oldest`, refused tokens, maximum text lengths. Events are lost when nobody is connected, which
 * is the worst that Slack does. It can refuse, hang, break off or be unreachable.
 */
export class TestSlack {
  readonly calls: SlackCall[] = [];
  readonly sockets = new SlackSockets();
  /** The only known tokens; changing one revokes the old one. */
  botToken = SLACK_BOT_TOKEN;
  appToken = SLACK_APP_TOKEN;
  /** The error for an unknown token. */
  refusal = 'token_revoked';
  private readonly failures: { readonly method: string; readonly failure: SlackFailure }[] = [];
  private readonly files = new Map<string, Buffer>();
  private readonly kinds = new Map<string, string>();
  /** What people's messages have besides text, by their `ts`. */
  private readonly more = new Map<string, Json>();
  private readonly posting = new Set<Promise<unknown>>();
  private saidSoFar: SaidAtSlack[] = [];
  /** What the bot shared, in order. */
  readonly shared: SharedAtSlack[] = [];
  private readonly uploads = new Map<string, Buffer>();
  private front: Server;
  private port = 0;

  private constructor(
    private readonly platform: ChildProcess,
    private readonly platformUrl: string,
  ) {
    this.front = this.makeFront();
  }

  static async start(): Promise<TestSlack> {
    const platform = fork(resolve('test/harness/slack-platform.mjs'));
    const ready = once(platform, 'message') as Promise<[{ url: string }]>;
    platform.send(seed());
    const [{ url }] = await ready;
    const slack = new TestSlack(platform, url);
    await slack.comeBack();
    return slack;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/api/`;
  }

  /** A channel that the bot has joined. */
  async channel(name: string): Promise<string> {
    const { channel } = await this.ask('conversations.create', { name }, 'xoxp-ada');
    const { id } = channel as { id: string };
    await this.ask('conversations.join', { channel: id });
    await this.ask('conversations.join', { channel: id }, 'xoxp-grace');
    this.kinds.set(id, 'channel');
    return id;
  }

  /** The private conversation of a user with the bot. */
  async direct(user = 'ada'): Promise<string> {
    const { channel } = await this.ask('conversations.open', { users: BOT }, `xoxp-${user}`);
    const { id } = channel as { id: string };
    this.kinds.set(id, 'im');
    return id;
  }

  /**
   * A person writes.
   * @returns the `ts` of the message
   */
  async write(text: string, { channel, user = 'ada', thread, more = {} }: Writing): Promise<string> {
    const at = thread === undefined ? {} : { thread_ts: thread };
    const posting = this.ask('chat.postMessage', { channel, text, ...at }, `xoxp-${user}`);
    const noted = posting
      .then(({ ts: id }) => this.more.set(String(id), more))
      .finally(() => this.posting.delete(noted));
    this.posting.add(noted);
    const answer = await posting;
    const { ts, message } = answer as unknown as { ts: string; message: { user: string; text: string } };
    const channelType = this.kinds.get(channel) ?? 'channel';
    const said = { channel, user: message.user, text: message.text, ts, event_ts: ts, ...at, ...more };
    if (text.includes(`<@${BOT}>`) && channelType !== 'im') this.tell({ type: 'app_mention', ...said });
    this.tell({ type: 'message', channel_type: channelType, ...said });
    return ts;
  }

  /** The id that the platform assigned to a person. */
  async idOf(user: string): Promise<string> {
    return (await this.ask('auth.test', {}, `xoxp-${user}`))['user_id'] as string;
  }

  /**
   * A person clicks a button, as socket mode reports it. While no bot is connected, Slack tells them that the click failed, and
   * they click again. `more` replaces parts of the event.
   */
  async click(
    value: string,
    { channel, user, more = {} }: { channel: string; user: Json; more?: Json },
  ): Promise<void> {
    await eventually(() => {
      if (!this.sockets.isConnected) throw new Error('no bot is connected to Slack');
    });
    const action = { type: 'button', action_id: 'agw_approval_primary', block_id: 'b', value };
    const container = { type: 'message', channel_id: channel };
    this.sockets.deliver(
      {
        type: 'block_actions',
        team: { id: TEAM, domain: 'test' },
        user: { team_id: TEAM, ...user },
        channel: { id: channel, name: 'directmessage' },
        container,
        actions: [action],
        ...more,
      },
      'interactive',
    );
  }

  /** A file that people can send, as events describe it. */
  file(data: Buffer | string, name: string, mimetype: string, more: Json = {}): Json {
    const id = `F${this.files.size}`;
    const bytes = Buffer.from(data);
    this.files.set(id, bytes);
    const url = `http://127.0.0.1:${this.port}/files-pri/${id}`;
    return { id, name, mimetype, size: bytes.length, mode: 'hosted', url_private_download: url, ...more };
  }

  /** Sends the app an event. */
  tell(event: SlackEvent): void {
    this.sockets.deliver({ team_id: TEAM, type: 'event_callback', event });
  }

  /** The bot's messages in order, with edits applied. */
  said(channel?: string): SaidAtSlack[] {
    return this.saidSoFar.filter((one) => channel === undefined || one.channel === channel);
  }

  /** Forgets what the bot has said so far. */
  forget(): void {
    this.saidSoFar = [];
  }

  /** Waits until `count` complete answers have arrived. */
  async untilSaid(count: number, channel?: string, timeoutMs = 15_000): Promise<SaidAtSlack[]> {
    await eventually(() => {
      const { length } = completeAnswers(this.said(channel));
      if (length < count) throw new Error(`${length} of ${count} messages were said`);
    }, timeoutMs);
    return this.said(channel);
  }

  callsOf(method: string): SlackCall[] {
    return this.calls.filter((call) => call.method === method);
  }

  next(method: string, failure: SlackFailure): void {
    this.failures.push({ method, failure });
  }

  /** Makes the whole platform unreachable: connections are refused. Messages written meanwhile are kept. */
  async goAway(): Promise<void> {
    this.sockets.cut();
    this.front.closeAllConnections();
    await new Promise((resolve) => this.front.close(resolve));
  }

  async comeBack(): Promise<void> {
    this.front = this.makeFront();
    await new Promise<void>((resolve) => this.front.listen(this.port, '127.0.0.1', resolve));
    this.port = (this.front.address() as AddressInfo).port;
  }

  async stop(): Promise<void> {
    await this.goAway();
    const ended = once(this.platform, 'exit');
    this.platform.disconnect();
    await ended;
  }

  private makeFront(): Server {
    const front = createServer((request, response) => {
      void this.answer(request, response).catch(() => response.destroy());
    });
    this.sockets.listenOn(front);
    return front;
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.sendFile(request, response) || (await this.takeUpload(request, response))) return;
    const body = await formOf(request);
    const method = (request.url ?? '').replace('/api/', '');
    this.calls.push({ method, body });
    const place = this.failures.findIndex((one) => one.method === method);
    const failure = place < 0 ? undefined : this.failures.splice(place, 1)[0]?.failure;
    if (typeof failure === 'function') {
      failure(response);
      return;
    }
    const token = request.headers.authorization?.replace('Bearer ', '') ?? '';
    const answer = typeof failure === 'object' ? failure : await this.answerOf(method, body, token);
    if (failure === 'its answer is lost') response.destroy();
    else response.setHeader('content-type', 'application/json').end(JSON.stringify(answer));
  }

  /** Answers a stranger with the sign-in page, as Slack does. */
  private sendFile({ url = '', headers }: IncomingMessage, response: ServerResponse): boolean {
    const [, id = ''] = /^\/files-pri\/(\w+)$/.exec(url) ?? [];
    if (id === '') return false;
    this.calls.push({ method: 'file', body: { id } });
    const place = this.failures.findIndex(({ method }) => method === 'file');
    const failure = place < 0 ? undefined : this.failures.splice(place, 1)[0]?.failure;
    const isKnown = headers.authorization === `Bearer ${this.botToken}`;
    if (typeof failure === 'function') failure(response);
    else if (isKnown) response.end(this.files.get(id));
    else response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end('<html>Sign in</html>');
    return true;
  }

  /** Receives the bytes of a file at its secret address. */
  private async takeUpload(request: IncomingMessage, response: ServerResponse): Promise<boolean> {
    const [, id = ''] = /^\/upload\/v1\/(\w+)$/.exec(request.url ?? '') ?? [];
    if (id === '') return false;
    const data = await bytesOf(request);
    this.calls.push({ method: 'upload', body: { id, authorization: request.headers.authorization } });
    this.uploads.set(id, data);
    const place = this.failures.findIndex(({ method }) => method === 'upload');
    const failure = place < 0 ? undefined : this.failures.splice(place, 1)[0]?.failure;
    if (typeof failure === 'function') {
      failure(response);
      return true;
    }
    const answer = await fetch(`${this.platformUrl}/upload/v1/${id}`, {
      method: 'POST',
      headers: { 'content-type': 'application/octet-stream' },
      body: new Uint8Array(data),
    });
    response.writeHead(answer.status).end(await answer.text());
    return true;
  }

  private async upload(method: string, body: Json): Promise<Json> {
    const files = typeof body['files'] === 'string' ? { files: JSON.parse(body['files']) as Json[] } : {};
    const answer = await this.ask(method, { ...body, ...files });
    if (method === 'files.getUploadURLExternal' && answer['ok'] === true) {
      return {
        ...answer,
        upload_url: `http://127.0.0.1:${this.port}/upload/v1/${String(answer['file_id'])}`,
      };
    }
    for (const { id, title } of answer['ok'] === true ? (files.files ?? []) : []) {
      this.shared.push({
        channel: String(body['channel_id']),
        thread: body['thread_ts'] as string | undefined,
        name: String(title),
        data: this.uploads.get(String(id)) ?? Buffer.alloc(0),
      });
    }
    return answer;
  }

  private async answerOf(method: string, body: Json, token: string): Promise<Json> {
    const wanted = method === 'apps.connections.open' ? this.appToken : this.botToken;
    if (token !== wanted) return { ok: false, error: this.refusal };
    if (method === 'apps.connections.open') {
      return { ok: true, url: `ws://127.0.0.1:${this.port}/link?ticket=${crypto.randomUUID()}` };
    }
    if (method === 'chat.update' && String(body['text']).length > 4000)
      return { ok: false, error: 'msg_too_long' };
    if (/^files\.\w+External$/.test(method)) return this.upload(method, body);
    if (method === 'users.conversations') return this.memberships(body);
    const answer = await this.ask(method, body);
    if (/^conversations\.(history|replies)$/.test(method)) {
      await Promise.allSettled(this.posting);
      return onlyAfter(this.withMore(answer), body['oldest']);
    }
    if (answer['ok'] === true) this.note(method, answer, body);
    return answer;
  }

  /** Adds to the platform's history what it does not keep, such as files. */
  private withMore(answer: Json): Json {
    const messages = (answer['messages'] ?? []) as { ts: string }[];
    return { ...answer, messages: messages.map((one) => ({ ...one, ...this.more.get(one.ts) })) };
  }

  private async memberships(body: Json): Promise<Json> {
    const answer = await this.ask('conversations.list', body);
    const channels = (answer['channels'] ?? []) as { is_member?: boolean }[];
    return { ...answer, channels: channels.filter(({ is_member: isMember }) => isMember) };
  }

  private note(method: string, answer: Json, body: Json): void {
    const blocks = body['blocks'] as string | undefined;
    const { channel, ts, message } = answer as {
      channel: string;
      ts: string;
      message: { text: string; thread_ts?: string };
    };
    if (method === 'chat.postMessage') {
      this.saidSoFar.push({ channel, ts, thread: message.thread_ts, text: message.text, blocks });
    }
    if (method === 'chat.update') {
      this.saidSoFar = this.saidSoFar.map((one) =>
        one.ts === ts ? { ...one, text: message.text, blocks } : one,
      );
    }
  }

  private async ask(method: string, body: Json, token: string = SLACK_BOT_TOKEN): Promise<Json> {
    const answer = await fetch(`${this.platformUrl}/api/${method}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify(body),
    });
    return (await answer.json()) as Json;
  }
}

/** An app on loopback that lets everyone in. */
export function slackEnv(
  slack: TestSlack,
  more: Readonly<Record<string, string>> = {},
): Record<string, string> {
  return channelEnv('slack', {
    type: 'slack',
    token: SLACK_BOT_TOKEN,
    app_token: SLACK_APP_TOKEN,
    api_url: slack.url,
    allowed_users: '*',
    ...more,
  });
}

function seed(): Json {
  const people = ['ada', 'grace'];
  return {
    strict_scopes: true,
    users: people.map((name) => ({ name, real_name: name === 'ada' ? 'Ada' : 'Grace' })),
    oauth_apps: [
      {
        client_id: '1.1',
        client_secret: 'nobodys',
        name: 'Gateway',
        redirect_uris: [],
        scopes: SCOPES,
        bot_id: 'BGATEWAY',
        bot_user_id: BOT,
      },
    ],
    tokens: [
      {
        token: SLACK_BOT_TOKEN,
        type: 'bot',
        user_id: BOT,
        bot_id: 'BGATEWAY',
        bot_user_id: BOT,
        scopes: SCOPES,
      },
      ...people.map((name) => ({
        token: `xoxp-${name}`,
        type: 'user',
        user: name,
        scopes: [...SCOPES, 'channels:manage', 'channels:write'],
      })),
    ],
  };
}

function onlyAfter(answer: Json, oldest: unknown): Json {
  const messages = (answer['messages'] ?? []) as { ts: string }[];
  return { ...answer, messages: messages.filter(({ ts }) => Number(ts) > Number(oldest ?? 0)) };
}

async function bytesOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

async function formOf(request: IncomingMessage): Promise<Json> {
  return Object.fromEntries(new URLSearchParams((await bytesOf(request)).toString('utf8')));
}
