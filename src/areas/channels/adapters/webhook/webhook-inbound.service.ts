import { Injectable } from '@nestjs/common';
import { mediaKind } from '../../../../common/text/media-type.js';
import { Database } from '../../../../platform/database/database.js';
import { json, nullable, text } from '../../../../platform/database/sql-types.js';
import { statement } from '../../../../platform/database/statement.js';
import { Readiness } from '../../../../platform/lifecycle/readiness.js';
import { Settings } from '../../../../platform/settings/settings.js';
import { type SignedHeaders, signatureProblem } from '../../../hooks/hooks.api.js';
import { ChannelDirectory } from '../../../sessions/sessions.api.js';
import { BadAttachment, type TurnFile, TurnFiles } from '../../../turns/turns.api.js';
import { ChannelActivity } from '../../channel-activity.js';
import type { InboundFile } from '../../channel-adapter.port.js';
import { ChannelAdapters } from '../../channel-adapters.js';
import { NotSigned, SenderNotAllowed, WebhookIdReused } from '../../channels.errors.js';
import { DoneSignal } from '../../conversations/conversation-run.js';
import { ConversationWorker } from '../../conversations/conversation-worker.service.js';
import { Inbox } from '../../inbound/inbox.store.js';
import { admissionOf } from '../../inbound/sender.js';
import { AnswerRoom } from './answer-room.js';
import { WebhookAdapter } from './webhook.adapter.js';

/** A message that was posted under a `webhook-id`, with its answer. */
export interface WebhookAnswer {
  readonly messageId: string;
  readonly sessionId: string | null;
  /** SHA-256 of the request body, in base64. */
  readonly digest: string;
  /** Null until the message is answered. */
  readonly content: string | null;
  /** What tools made for it. */
  readonly files: readonly AnsweredFile[];
}

export interface AnsweredFile {
  readonly name: string;
  readonly mimeType: string;
  /** Null when it is no longer kept. */
  readonly data: Buffer | null;
}

/** The same before its files are read. */
type FoundAnswer = Omit<WebhookAnswer, 'files'> & { readonly files: readonly TurnFile[] };

const FIND = statement({
  name: 'channel_webhook.answer',
  params: { channel: text, external: text },
  row: {
    ...{ message_id: text, digest: text, session_id: nullable(text), content: nullable(text) },
    files: nullable(json<TurnFile[]>()),
  },
  sql: `
    SELECT m.message_id, m.target->>'digest' AS digest, said.session_id,
      CASE WHEN m.done_at IS NOT NULL THEN reply.content END AS content,
      CASE WHEN m.done_at IS NOT NULL THEN reply.files END AS files
    FROM channel_messages AS m LEFT JOIN messages AS said ON said.id = m.message_id, LATERAL (
      SELECT string_agg(content, E'\\n' ORDER BY part) FILTER (WHERE file IS NULL) AS content,
        json_agg(file ORDER BY part) FILTER (WHERE file IS NOT NULL) AS files
      FROM channel_replies AS r WHERE r.message_id = m.message_id
    ) AS reply
    WHERE m.channel = :channel AND m.external_id = :external`,
});

/** Reads the answers that are returned in responses. */
@Injectable()
export class WebhookAnswers {
  constructor(
    private readonly database: Database,
    private readonly files: TurnFiles,
    private readonly room: AnswerRoom,
  ) {}

  async find(channel: string, externalId: string): Promise<FoundAnswer | undefined> {
    const [row] = await this.database.query(FIND, { channel, external: externalId });
    if (row === undefined) return undefined;
    const { message_id: messageId, session_id: sessionId, digest, content, files } = row;
    return { messageId, sessionId, digest, content, files: files ?? [] };
  }

  /**
   * With the bytes of its files: ten, and 20 MiB, at most. They take room until the response is closed. Throws what `AnswerRoom`
   * throws.
   */
  async withFiles(found: FoundAnswer, channel: string, closed: AbortSignal): Promise<WebhookAnswer> {
    if (found.files.length > 0) await this.room.enter(channel, closed);
    const files: AnsweredFile[] = [];
    for (const file of found.files) {
      const { name, mimeType } = file;
      files.push({ name, mimeType, data: (await this.files.read(file)) ?? null });
    }
    return { ...found, files };
  }
}

/** How often a waiting request checks whether another replica has answered. */
const POLL_MS = 500;

/** A message with a verified signature, as it was received. */
export interface SignedMessage {
  readonly channel: string;
  /** `webhook-id`; a repeated message has the same one. */
  readonly id: string;
  /** SHA-256 of the body, in base64. */
  readonly digest: string;
}

export interface WebhookMessage {
  readonly conversation: string;
  readonly user: string;
  readonly content: string;
  readonly attachments?: readonly LinkedFile[];
}

/** A file that the program keeps. */
interface LinkedFile {
  readonly url: string;
  readonly name?: string;
  readonly mime_type?: string;
}

/** Verifies posted messages, stores each once, and waits for the answer if it goes into the response. */
@Injectable()
export class WebhookInbound {
  constructor(
    private readonly adapters: ChannelAdapters,
    private readonly directory: ChannelDirectory,
    private readonly inbox: Inbox,
    private readonly answers: WebhookAnswers,
    private readonly worker: ConversationWorker,
    private readonly doneSignal: DoneSignal,
    private readonly activity: ChannelActivity,
    private readonly readiness: Readiness,
    private readonly settings: Settings,
  ) {}

  /** The key of a webhook channel. Throws `NotSigned` for any other name. */
  async keyOf(channel: string): Promise<Buffer> {
    const adapter = await this.adapters.get(channel).catch(() => undefined);
    if (!(adapter instanceof WebhookAdapter)) throw new NotSigned('wrong');
    return adapter.key;
  }

  /** Throws `NotSigned`. */
  verify(headers: SignedHeaders, body: Buffer, key: Buffer): void {
    const problem = signatureProblem(headers, body, key, Math.floor(Date.now() / 1000));
    if (problem !== undefined) throw new NotSigned(problem);
  }

  /**
   * A repeated message gets the same answer. An answer without content means: stored, the answer comes later.
   * Throws `SenderNotAllowed`, `WebhookIdReused`, `BadAttachment` for files where none are fetched, and `RateLimited` or
   * `Unavailable` while there is no room for the files of the answer, which is kept.
   * @param closed aborted when the response is
   */
  async receive(signed: SignedMessage, message: WebhookMessage, closed: AbortSignal): Promise<WebhookAnswer> {
    const { channel, id, digest } = signed;
    const settings = this.directory.settingsOf(channel);
    const sender = { id: message.user, aliases: [], displayName: message.user };
    const arrived = { sender, isGroup: false, isAddressed: true };
    if (settings === undefined || admissionOf(arrived, settings) !== 'admitted') throw new SenderNotAllowed();
    const { conversation, user, content: text } = message;
    const files = this.filesOf(message);
    const target = { conversation, user, id, digest };
    const added = await this.inbox.accept(channel, [
      { ...arrived, externalId: id, conversation, text, files, target },
    ]);
    if (added > 0) {
      this.activity.note(channel);
      this.worker.wake();
    }
    const waitMs = settings.callback_url === '' ? settings.response_timeout_ms : 0;
    const answer = await this.answer(signed, digest, performance.now() + waitMs);
    return this.answers.withFiles(answer, channel, closed);
  }

  private filesOf({ attachments = [] }: WebhookMessage): InboundFile[] {
    if (attachments.length > 0 && !this.settings.current.multimodal.allow_remote_fetch)
      throw new BadAttachment('attachments', 'are not fetched here: multimodal.allow_remote_fetch is off');
    return attachments.map(({ url, name, mime_type: mimeType = '' }) => ({
      type: mediaKind(mimeType) ?? 'file',
      name: name ?? lastPartOf(url),
      ...{ mimeType, sizeBytes: null, where: { url } },
    }));
  }

  private async answer(signed: SignedMessage, digest: string, until: number): Promise<FoundAnswer> {
    for (;;) {
      const answer = await this.answers.find(signed.channel, signed.id);
      if (answer?.digest !== digest) throw new WebhookIdReused();
      const leftMs = until - performance.now();
      if (answer.content !== null || leftMs <= 0 || this.readiness.isDraining) return answer;
      await this.doneSignal.wait(answer.messageId, Math.min(POLL_MS, leftMs));
    }
  }
}

function lastPartOf(url: string): string {
  const path = URL.canParse(url) ? new URL(url).pathname : '';
  return path.split('/').at(-1) ?? '';
}
