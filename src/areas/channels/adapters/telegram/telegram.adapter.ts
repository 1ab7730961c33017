import { setTimeout as sleep } from 'node:timers/promises';
import { type Api, GrammyError, InputFile } from 'grammy';
import type { CallbackQuery, Update, UserFromGetMe } from 'grammy/types';
import type { ApprovalCard } from '../../approvals/approval-card.js';
import {
  type AdapterData,
  type AdapterParts,
  ChannelAdapter,
  credential,
  type FetchedFile,
  type InboundFile,
  NOT_DECIDED,
  type OutboundFile,
  type OutboundReply,
  type ReceiverLink,
} from '../../channel-adapter.port.js';
import { NotSent } from '../../channel-failures.js';
import { type TelegramText, telegramText } from '../../formatting/telegram-text.js';
import { clickOf, telegramCard } from './telegram-cards.js';
import { connectionFailure, grammySignal, sendFailure, telegramApi } from './telegram-client.js';
import { TelegramFiles } from './telegram-files.js';
import { inboundMessages, isOfAlbum } from './telegram-messages.js';

const MAX_UPDATES = 100;
/** Telegram must not fetch the links of an answer just because it was sent. */
const NO_PREVIEW = { is_disabled: true };
/** After a week without updates Telegram may restart its numbers; an old offset would then wait for ever. */
const CURSOR_LIFE_MS = 6 * 24 * 3_600_000;

/** A file takes longer than a call. */
const TIMES_LONGER = 3;
const MAX_UPLOAD_BYTES = 50_000_000;
const MAX_PHOTO_BYTES = 10_000_000;
const PHOTO_TYPES = new Set(['image/png', 'image/jpeg', 'image/webp']);
/** The pictures of an album are updates of their own, which arrive together; a poll may return between them. */
const ALBUM_MS = 400;

const MAX_TELLING = 20;
const TELL_MS = 10_000;
/** Telegram's limit of an alert. */
const MAX_ALERT = 200;

/** Where to resume: for which bot, after which update, and when that was (Unix milliseconds). */
interface TelegramCursor {
  readonly bot: number;
  readonly after: number;
  readonly at: number;
}

/** A Telegram bot that polls for updates, so that every change of the connection is seen (Bot API, getUpdates). */
export class TelegramAdapter extends ChannelAdapter {
  /** Telegram's limit in UTF-16 code units. */
  readonly maxReplyLength = 4096;
  private readonly api: Api;
  /** The same with a time limit for long polling. */
  private readonly polling: Api;
  /** The same for files. */
  private readonly uploads: Api;
  private readonly pollSecs: number;
  private readonly files: TelegramFiles;
  private telling = 0;

  constructor({ settings, environment, outbound }: AdapterParts) {
    super();
    const token = credential(settings.token, settings.token_env, environment);
    const { api_url: apiUrl, request_timeout_ms: timeoutMs, poll_timeout_secs: pollSecs } = settings;
    this.pollSecs = pollSecs;
    this.api = telegramApi(outbound, { token, apiUrl, timeoutMs });
    this.uploads = telegramApi(outbound, { token, apiUrl, timeoutMs: timeoutMs * TIMES_LONGER });
    this.files = new TelegramFiles(outbound, this.api, { token, apiUrl, timeoutMs });
    this.polling = telegramApi(outbound, { token, apiUrl, timeoutMs: timeoutMs + pollSecs * 1000 });
  }

  async receive(link: ReceiverLink, signal: AbortSignal): Promise<void> {
    const me = await this.call(() => this.api.getMe(grammySignal(signal)));
    // A bot gets its updates either by webhook or by polling; this removes a webhook and keeps the waiting updates.
    await this.call(() => this.api.deleteWebhook({}, grammySignal(signal)));
    let cursor = cursorOf(link.cursor, me.id);
    let waitSecs = 0;
    while (!signal.aborted) {
      let updates = await this.updates(cursor, waitSecs, signal);
      link.connected();
      waitSecs = this.pollSecs;
      if (isOfAlbum(updates.at(-1)) && updates.length < MAX_UPDATES) {
        await sleep(ALBUM_MS, undefined, { signal });
        // Nothing was confirmed, so the same updates come again, with the rest of the album.
        updates = await this.updates(cursor, 0, signal);
      }
      if (updates.length > 0) cursor = await this.store(link, updates, me);
    }
  }

  async check(signal: AbortSignal): Promise<void> {
    await this.call(() => this.api.getMe(grammySignal(signal)));
  }

  async send({ target, text }: OutboundReply, signal: AbortSignal): Promise<string> {
    const { chat, other } = addressOf(target);
    return this.formatted(text, async ({ text: shown, entities }) => {
      const options = { ...other, entities, link_preview_options: NO_PREVIEW };
      const { message_id: id } = await this.api.sendMessage(chat, shown, options, grammySignal(signal));
      return String(id);
    }).catch((error: unknown) => {
      throw sendFailure(error);
    });
  }

  override async edit(
    externalId: string,
    { target, text }: OutboundReply,
    signal: AbortSignal,
  ): Promise<void> {
    const { chat } = addressOf(target);
    const id = Number(externalId);
    try {
      await this.formatted(text, ({ text: shown, entities }) => {
        const options = { entities, link_preview_options: NO_PREVIEW };
        return this.api.editMessageText(chat, id, shown, options, grammySignal(signal));
      });
    } catch (error) {
      if (isUnmodified(error)) return;
      // An edit may safely be repeated.
      throw sendFailure(error).asRetryable();
    }
  }

  override async sendCard(target: AdapterData, card: ApprovalCard, signal: AbortSignal): Promise<string> {
    const { chat, other } = addressOf(target);
    const { text, options } = telegramCard(card);
    const sent = await this.api
      .sendMessage(chat, text, { ...other, ...options }, grammySignal(signal))
      .catch((error: unknown) => {
        throw sendFailure(error);
      });
    return String(sent.message_id);
  }

  override async editCard(
    externalId: string,
    target: AdapterData,
    card: ApprovalCard,
    signal: AbortSignal,
  ): Promise<void> {
    const { text, options } = telegramCard(card);
    try {
      await this.api.editMessageText(
        addressOf(target).chat,
        Number(externalId),
        text,
        options,
        grammySignal(signal),
      );
    } catch (error) {
      if (!isUnmodified(error)) throw sendFailure(error).asRetryable();
    }
  }

  /**
   * Telegram repeats the update until it is confirmed; the decision stays the same. The person who clicked is told at
   * once, without waiting for it; past a bound nobody is told.
   */
  private async click(link: ReceiverLink, query: CallbackQuery): Promise<void> {
    const click = clickOf(query);
    const outcome =
      click === undefined ? { isAccepted: false, text: NOT_DECIDED } : await link.clicked(click);
    if (this.telling >= MAX_TELLING) return;
    this.telling += 1;
    const text = outcome.text.slice(0, MAX_ALERT);
    void this.api
      .answerCallbackQuery(
        query.id,
        { text, show_alert: !outcome.isAccepted },
        grammySignal(AbortSignal.timeout(TELL_MS)),
      )
      .catch(() => undefined)
      .finally(() => {
        this.telling -= 1;
      });
  }

  /** Sends formatted text, and what was written when Telegram refuses its form: then it has not been sent. */
  private async formatted<Result>(
    markdown: string,
    send: (text: TelegramText) => Promise<Result>,
  ): Promise<Result> {
    const text = telegramText(markdown, this.maxReplyLength);
    try {
      return await send(text);
    } catch (error) {
      const isForm =
        error instanceof GrammyError && error.error_code === 400 && /entit/i.test(error.description);
      if (!isForm || text.entities.length === 0) throw error;
      return send({ text: markdown, entities: [] });
    }
  }

  /** A picture is shown; what Telegram does not take as one is sent as a document, as is everything else. */
  override async sendFile(file: OutboundFile, signal: AbortSignal): Promise<string> {
    const { name, data } = file;
    if (data.length > MAX_UPLOAD_BYTES)
      throw new NotSent('rejected', 'Telegram takes files of 50 MB from bots');
    const { chat, other } = addressOf(file.target);
    const upload = () => new InputFile(data, name);
    const sent = isPhoto(file)
      ? this.uploads.sendPhoto(chat, upload(), other, grammySignal(signal)).catch((error: unknown) => {
          if (!(error instanceof GrammyError) || error.error_code !== 400) throw error;
          return this.uploads.sendDocument(chat, upload(), other, grammySignal(signal));
        })
      : this.uploads.sendDocument(chat, upload(), other, grammySignal(signal));
    return sent.then(
      ({ message_id: id }) => String(id),
      (error: unknown) => {
        throw sendFailure(error);
      },
    );
  }

  override fetchFile(file: InboundFile, maxBytes: number, signal: AbortSignal): Promise<FetchedFile> {
    return this.files.fetch(file, maxBytes, signal);
  }

  override async typing(target: AdapterData, signal: AbortSignal): Promise<void> {
    const { chat, other } = addressOf(target);
    await this.call(() => this.api.sendChatAction(chat, 'typing', other, grammySignal(signal)));
  }

  /** Stores the cursor with the messages; the next request acknowledges them to Telegram. */
  private async store(
    link: ReceiverLink,
    updates: readonly Update[],
    me: UserFromGetMe,
  ): Promise<TelegramCursor> {
    for (const { callback_query: query } of updates) if (query) await this.click(link, query);
    const messages = inboundMessages(updates, me);
    const after = Math.max(...updates.map(({ update_id: id }) => id));
    const cursor = { bot: me.id, after, at: Date.now() };
    await link.store(messages, { ...cursor });
    return cursor;
  }

  private updates(
    cursor: TelegramCursor | undefined,
    waitSecs: number,
    signal: AbortSignal,
  ): Promise<Update[]> {
    const offset =
      cursor === undefined || Date.now() - cursor.at > CURSOR_LIFE_MS ? {} : { offset: cursor.after + 1 };
    const request = {
      ...offset,
      timeout: waitSecs,
      limit: MAX_UPDATES,
      allowed_updates: ['message', 'edited_message', 'callback_query'] as const,
    };
    return this.call(async () => {
      const all = await this.polling.getUpdates(request, grammySignal(signal));
      const updates = all.filter(isUpdate);
      // Without an id nothing can be confirmed, and the same would come again at once.
      if (updates.length === 0 && all.length > 0)
        throw new Error('Telegram sent something else than updates');
      return updates;
    });
  }

  private async call<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      throw connectionFailure(error);
    }
  }
}

function isUpdate(update: unknown): update is Update {
  return Number.isSafeInteger((update as Partial<Update> | null)?.update_id);
}

function isUnmodified(error: unknown): boolean {
  return error instanceof GrammyError && /message is not modified/i.test(error.description);
}

function isPhoto({ mimeType, data }: OutboundFile): boolean {
  return PHOTO_TYPES.has(mimeType) && data.length <= MAX_PHOTO_BYTES;
}

function cursorOf(stored: AdapterData | null, bot: number): TelegramCursor | undefined {
  if (stored?.['bot'] !== bot || typeof stored['after'] !== 'number') return undefined;
  return { bot, after: stored['after'], at: Number(stored['at']) };
}

function addressOf(target: AdapterData): { chat: number; other: { message_thread_id?: number } } {
  const { chat, thread } = target;
  return { chat: Number(chat), other: thread === undefined ? {} : { message_thread_id: Number(thread) } };
}
