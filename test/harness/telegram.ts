import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { TelegramServer } from 'telegram-test-api/lib/telegramServer.js';
import { completeAnswers } from './complete-answers.js';
import { eventually } from './eventually.js';
import { freePort } from './free-port.js';

export const BOT_TOKEN = '4711147:AAcanaryTokenOfATestBotThatIsNobodys';

interface Update {
  readonly update_id: number;
}

/** A call of the bot API, and its result. */
export interface BotCall {
  readonly method: string;
  readonly body: Record<string, unknown>;
  /** 0 while it is unanswered. */
  status: number;
}

/**
 * What happens to the next call of a method: another response instead of Telegram's, or Telegram's response is lost.
 */
export type TelegramFailure =
  | 'its answer is lost'
  | 'its answer hangs'
  | ((response: ServerResponse) => void);

interface Uploaded {
  readonly name: string;
  readonly data: Buffer;
}

/** A file that the bot sent. */
interface BotFile {
  readonly chat: string;
  readonly method: string;
  readonly name: string;
  readonly data: Buffer;
}

export interface BotMessage {
  readonly chat: string;
  readonly text: string;
}

/** A message and its buttons. */
export interface ButtonMessage {
  readonly text: string;
  readonly buttons: readonly { readonly label: string; readonly data: string }[];
}

/**
 * Telegram as a bot sees it: `telegram-test-api` behind a server that adds documented behaviour that the package
 * lacks: offsets that confirm (unconfirmed updates are repeated), long polling, refused tokens, the typing indicator.
 * It can refuse, hang, break off or be unreachable.
 */
export class TestTelegram {
  readonly calls: BotCall[] = [];
  /** What the bot sent besides text, in order. */
  readonly sentFiles: BotFile[] = [];
  /** The only known token; changing it revokes the old one. */
  token = BOT_TOKEN;
  private readonly failures: { readonly method: string; readonly failure: TelegramFailure }[] = [];
  private readonly files = new Map<string, Buffer>();
  private readonly unconfirmed: Update[] = [];
  private readonly handedOver: Update[] = [];
  private readonly open = new Set<ServerResponse>();
  private front: Server;
  private port = 0;

  private constructor(private readonly platform: TelegramServer) {
    this.front = this.makeFront();
  }

  static async start(): Promise<TestTelegram> {
    const platform = new TelegramServer({ port: await freePort(), host: '127.0.0.1', storeTimeout: 600 });
    await platform.start();
    const telegram = new TestTelegram(platform);
    await telegram.comeBack();
    return telegram;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** A person writes to the bot. */
  async write(
    text: string,
    who: { chat?: number; user?: number; name?: string; type?: string; more?: object } = {},
  ) {
    const { chat = 1, user = 7, name = 'ada', type = 'private', more = {} } = who;
    const client = this.platform.getClient(this.token, {
      chatId: chat,
      userId: user,
      userName: name,
      firstName: 'Ada',
      type: type as 'private',
    });
    // Its types depend on a package that it does not install.
    const message = client.makeMessage(text, more) as object;
    // Telegram leaves out empty fields.
    await client.sendMessage(text === '' ? { ...message, text: undefined } : message);
  }

  /** A person clicks a button. A modified client may send any data. */
  async click(data: string, who: { chat?: number; user?: number; name?: string } = {}): Promise<void> {
    const { chat = 1, user = 7, name = 'Ada' } = who;
    const client = this.platform.getClient(this.token, { chatId: chat, userId: user, firstName: name });
    await client.sendCallback(client.makeCallbackQuery(data));
  }

  /**
   * A file that people can send.
   * @returns its id
   */
  file(data: Buffer | string): string {
    const id = `file-${this.files.size}`;
    this.files.set(id, Buffer.from(data));
    return id;
  }

  /** The bot's messages in order, with edits applied. */
  said(chat?: number): BotMessage[] {
    // Its types depend on a package that it does not install.
    const { botMessages } = this.platform.storage as unknown as {
      botMessages: { message: { chat_id: number | string; text: string } }[];
    };
    return botMessages
      .map(({ message }) => ({ chat: String(message.chat_id), text: message.text }))
      .filter((message) => chat === undefined || message.chat === String(chat));
  }

  /** The bot's messages with a keyboard, with edits applied. */
  cards(): ButtonMessage[] {
    const { botMessages } = this.platform.storage as unknown as {
      botMessages: {
        message: {
          text: string;
          reply_markup?: { inline_keyboard: { text: string; callback_data: string }[][] };
        };
      }[];
    };
    return botMessages.flatMap(({ message: { text, reply_markup: markup } }) =>
      markup === undefined
        ? []
        : [
            {
              text,
              buttons: markup.inline_keyboard
                .flat()
                .map(({ text: label, callback_data: data }) => ({ label, data })),
            },
          ],
    );
  }

  /** Waits until `count` complete answers have arrived. */
  async untilSaid(count: number, chat?: number, timeoutMs = 15_000): Promise<BotMessage[]> {
    await eventually(() => {
      const { length } = completeAnswers(this.said(chat));
      if (length < count) throw new Error(`${length} of ${count} messages were said`);
    }, timeoutMs);
    return this.said(chat);
  }

  callsOf(method: string): BotCall[] {
    return this.calls.filter((call) => call.method === method);
  }

  /** What happens to the next call of this method. */
  next(method: string, failure: TelegramFailure): void {
    this.failures.push({ method, failure });
  }

  /** Sends everything once more, as if nothing had been confirmed. */
  repeatAll(): void {
    this.unconfirmed.push(...this.handedOver);
  }

  /** Makes the whole platform unreachable: connections are refused. Messages written meanwhile are kept. */
  async goAway(): Promise<void> {
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
    await this.platform.stop();
  }

  private makeFront(): Server {
    return createServer((request, response) => {
      this.open.add(response);
      response.on('close', () => this.open.delete(response));
      void this.answer(request, response).catch(() => response.destroy());
    });
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.sendFile(request.url ?? '', response)) return;
    const body = await bodyOf(request);
    const [, token = '', method = ''] = /^\/bot([^/]+)\/(\w+)$/.exec(request.url ?? '') ?? [];
    const call: BotCall = { method, body, status: 0 };
    this.calls.push(call);
    const place = this.failures.findIndex((one) => one.method === method);
    if (place >= 0) {
      const [one] = this.failures.splice(place, 1);
      if (typeof one?.failure === 'function') {
        one.failure(response);
        return;
      }
      await this.answerOf(method, token, body, response);
      if (one?.failure === 'its answer is lost') response.destroy();
      return;
    }
    const answer = await this.answerOf(method, token, body, response);
    call.status = answer.status;
    if (response.destroyed) return;
    response.writeHead(answer.status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answer.json));
  }

  private sendFile(path: string, response: ServerResponse): boolean {
    const [, token, id = ''] = /^\/file\/bot([^/]+)\/files\/(.+)$/.exec(path) ?? [];
    if (token === undefined) return false;
    this.calls.push({ method: 'file', body: { id }, status: 200 });
    const place = this.failures.findIndex(({ method }) => method === 'file');
    const failure = place < 0 ? undefined : this.failures.splice(place, 1)[0]?.failure;
    if (typeof failure === 'function') failure(response);
    else response.writeHead(token === this.token ? 200 : 404).end(this.files.get(id) ?? '');
    return true;
  }

  private fileOf(id: string): { status: number; json: unknown } {
    const data = this.files.get(id);
    const missing = { ok: false, error_code: 400, description: 'Bad Request: invalid file_id' };
    if (data === undefined) return { status: 400, json: missing };
    const large = { ok: false, error_code: 400, description: 'Bad Request: file is too big' };
    if (data.length > 20_000_000) return { status: 400, json: large };
    const result = { file_id: id, file_unique_id: id, file_size: data.length, file_path: `files/${id}` };
    return { status: 200, json: { ok: true, result } };
  }

  /** Refuses a picture whose bytes are not one, as the Bot API does. */
  private takeFile(method: string, body: Record<string, unknown>): { status: number; json: unknown } {
    const file = Object.values(body).find((value) => typeof value === 'object') as Uploaded | undefined;
    const { name = '', data = Buffer.alloc(0) } = file ?? {};
    if (method === 'sendPhoto' && !/^(89504e47|ffd8ff|52494646)/.test(data.toString('hex', 0, 4))) {
      const description = 'Bad Request: IMAGE_PROCESS_FAILED';
      return { status: 400, json: { ok: false, error_code: 400, description } };
    }
    this.sentFiles.push({ chat: String(body['chat_id']), method, name, data });
    const result = { message_id: 9000 + this.sentFiles.length, date: 1, chat: { id: 1, type: 'private' } };
    return { status: 200, json: { ok: true, result } };
  }

  private async answerOf(
    method: string,
    token: string,
    body: Record<string, unknown>,
    response: ServerResponse,
  ): Promise<{ status: number; json: unknown }> {
    const refused = { ok: false, error_code: 401, description: 'Unauthorized' };
    if (token !== this.token) return { status: 401, json: refused };
    if (method === 'sendChatAction') return { status: 200, json: { ok: true, result: true } };
    if (method === 'getFile') return this.fileOf(String(body['file_id']));
    if (method === 'sendPhoto' || method === 'sendDocument') return this.takeFile(method, body);
    if (method === 'getUpdates') {
      const result = await this.updates(body, token, response);
      return result === undefined
        ? { status: 401, json: refused }
        : { status: 200, json: { ok: true, result } };
    }
    const { text = '' } = body as { text?: string };
    if (text.length > 4096) {
      const description = 'Bad Request: message is too long';
      return { status: 400, json: { ok: false, error_code: 400, description } };
    }
    const upstream = await fetch(`http://127.0.0.1:${this.platform.config.port}/bot${token}/${method}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return { status: upstream.status, json: await upstream.json() };
  }

  /** Undefined when the token is revoked meanwhile. */
  private async updates(body: Record<string, unknown>, token: string, response: ServerResponse) {
    const {
      offset,
      timeout = 0,
      limit = 100,
    } = body as { offset?: number; timeout?: number; limit?: number };
    if (offset !== undefined) {
      const left = this.unconfirmed.filter(({ update_id: id }) => id >= offset);
      this.unconfirmed.splice(0, this.unconfirmed.length, ...left);
    }
    const until = performance.now() + timeout * 1000;
    for (;;) {
      if (token !== this.token) return undefined;
      // The caller has gone; an update taken now would be missing for the next one.
      if (!response.destroyed) {
        const updates = (this.platform.getUpdates(token) as Update[]).map(edited);
        this.unconfirmed.push(...updates);
        this.handedOver.push(...updates);
      }
      if (this.unconfirmed.length > 0 || performance.now() >= until || response.destroyed)
        return this.unconfirmed.slice(0, limit);
      await new Promise((resolve) => setTimeout(resolve, 15));
    }
  }
}

/** A message with an edit date is an edited message. */
function edited(update: Update & { message?: { edit_date?: number } }): Update {
  const { message, ...rest } = update;
  return message?.edit_date === undefined ? update : ({ ...rest, edited_message: message } as Update);
}

async function bodyOf(request: IncomingMessage): Promise<Record<string, unknown>> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const type = request.headers['content-type'] ?? '';
  if (type.startsWith('multipart/form-data')) return formOf(Buffer.concat(chunks), type);
  return JSON.parse(Buffer.concat(chunks).toString('utf8') || '{}') as Record<string, unknown>;
}

/**
 * Parses a form with files as grammY writes it. Node's own parser does not accept the line break after the last
 * boundary.
 */
function formOf(body: Buffer, type: string): Record<string, unknown> {
  const boundary = `--${type.split('boundary=')[1] ?? ''}`;
  const parts = body.toString('latin1').split(boundary).slice(1, -1);
  const entries = parts.map((part) => {
    const [head = '', ...rest] = part.split('\r\n\r\n');
    const data = Buffer.from(rest.join('\r\n\r\n').replace(/\r\n$/, ''), 'latin1');
    const [, name = ''] = /[; ]name="([^"]*)"/.exec(head) ?? [];
    const [, filename] = /filename="?([^"\r\n]*)/.exec(head) ?? [];
    return [name, filename === undefined ? data.toString('utf8') : { name: filename, data }] as const;
  });
  return Object.fromEntries(entries);
}
