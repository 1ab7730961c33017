import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { newId } from '../../../common/ids/typeid.js';
import type { OnCommit } from '../../../platform/database/sql.js';
import { signalWithin } from '../../../platform/runtime/signal-within.js';
import { Slots } from '../../../platform/runtime/slots.js';
import { MAX_ATTACHED_BYTES, type NewAttachment } from '../../turns/turns.api.js';
import type { ChannelAdapter, FetchedFile } from '../channel-adapter.port.js';
import { FileNotHad, RetryLater } from '../channel-failures.js';
import { attachmentType, contentType, unseenReason } from './file-content.js';
import { tooLarge } from './file-download.js';
import { Inbox, type OpenMessage } from './inbox.store.js';
import type { InboxFile } from './message-text.js';

/** How many messages' files are read at once: each message holds up to 20 MiB until its turn has begun. */
const MAX_AT_ONCE = 8;
/** For all files of a message. */
const FETCH_MS = 60_000;
/** A file that cannot be fetched for the moment is tried again until its message is this old. */
const RETRIED_FOR_MS = 120_000;
const ATTEMPTS = 3;
const RETRY_MS = 1000;
const LONGEST_RETRY_MS = 10_000;
const UNTYPED = 'application/octet-stream';

/** A message as its session gets it. */
export interface ReadMessage {
  readonly content: string;
  readonly attachments: readonly NewAttachment[];
  /** Notes what became of the files together with the turn. */
  readonly onCommit?: OnCommit<string>;
}

interface ReadFile {
  readonly file: InboxFile;
  readonly attachment?: NewAttachment;
}

/** Fetches what people sent beside their text, for whichever replica runs the turn. */
@Injectable()
export class MessageFiles {
  private readonly slots = new Slots(MAX_AT_ONCE);

  constructor(private readonly inbox: Inbox) {}

  /** Gives `begin` the message with its files. Throws what `begin` throws, and `RetryLater` when a file may be had later. */
  async read<Result>(
    message: OpenMessage,
    adapter: ChannelAdapter,
    signal: AbortSignal,
    begin: (read: ReadMessage) => Promise<Result>,
  ): Promise<Result> {
    if (message.files.length === 0) return begin({ content: message.content, attachments: [] });
    return this.slots.run(async () => {
      const patience = signalWithin(FETCH_MS, signal);
      const read: ReadFile[] = [];
      let room = MAX_ATTACHED_BYTES;
      for (const file of message.files) {
        const one = await readFile(file, { message, adapter, room, signal: patience });
        signal.throwIfAborted();
        room -= one.attachment?.sizeBytes ?? 0;
        read.push(one);
      }
      return begin(this.readMessage(message, read));
    });
  }

  /** The message without its files, because they may not be kept. */
  without(message: OpenMessage, reason: string): ReadMessage {
    const read = message.files.map((file) => ({ file: { ...file, problem: { reason } } }));
    return this.readMessage(message, read);
  }

  /**
   * Notes for the person about what the agent could not read; empty when there are none.
   * @param unseen media types that the model which answered was not shown
   */
  async notesFor(message: OpenMessage, unseen: readonly string[]): Promise<string> {
    if (message.files.length === 0) return '';
    const files = await this.inbox.filesOf(message);
    return files.flatMap((file) => personNote(file, unseen)).join('\n');
  }

  private readMessage(message: OpenMessage, read: readonly ReadFile[]): ReadMessage {
    const files = read.map(({ file }) => file);
    const notes = files.flatMap(({ name, problem }) =>
      problem === undefined ? [] : [`[attachment ${name} could not be read: ${problem.reason}]`],
    );
    const content = [message.content, ...(notes.length === 0 ? [] : [notes.join('\n')])].filter(Boolean);
    return {
      content: content.join('\n\n'),
      attachments: read.flatMap(({ attachment }) => attachment ?? []),
      onCommit: (runner) => this.inbox.noteFiles(runner, message, files),
    };
  }
}

interface ReadTerms {
  readonly message: OpenMessage;
  readonly adapter: ChannelAdapter;
  readonly room: number;
  readonly signal: AbortSignal;
}

async function readFile(file: InboxFile, terms: ReadTerms): Promise<ReadFile> {
  if (file.problem !== undefined) return { file };
  const fetched = await fetchWithRetries(file, terms).catch((error: unknown) => {
    if (!(error instanceof FileNotHad)) throw error;
    const isRetried = Date.now() - terms.message.receivedAt.getTime() < RETRIED_FOR_MS;
    if (error.why === 'later' && isRetried && !terms.signal.aborted) {
      throw new RetryLater(`a file: ${error.message}`, pauseAfter(error));
    }
    return error;
  });
  return fetched instanceof FileNotHad
    ? { file: { ...file, problem: { reason: fetched.message } } }
    : kept(file, fetched);
}

async function fetchWithRetries(file: InboxFile, terms: ReadTerms): Promise<FetchedFile> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await fetchFile(file, terms);
    } catch (error) {
      const isLast = attempt >= ATTEMPTS || terms.signal.aborted;
      if (isLast || !(error instanceof FileNotHad) || error.why === 'never') throw error;
      await sleep(pauseAfter(error), undefined, { signal: terms.signal }).catch(() => undefined);
    }
  }
}

function pauseAfter({ retryAfterMs = RETRY_MS }: FileNotHad): number {
  return Math.min(retryAfterMs, LONGEST_RETRY_MS);
}

async function fetchFile(file: InboxFile, { adapter, room, signal }: ReadTerms): Promise<FetchedFile> {
  if (adapter.fetchFile === undefined || file.where === null) {
    throw new FileNotHad('never', 'it cannot be read here');
  }
  if (room <= 0 || (file.sizeBytes ?? 0) > room) throw tooLarge();
  return adapter.fetchFile(file, room, signal);
}

function kept(file: InboxFile, { data, mimeType: answered }: FetchedFile): ReadFile {
  const announced = file.mimeType === UNTYPED ? (answered ?? UNTYPED) : file.mimeType;
  const mimeType = contentType(announced, data);
  const type = attachmentType(mimeType);
  return {
    file: { ...file, type, mimeType },
    attachment: { id: newId('att'), type, name: file.name, mimeType, sizeBytes: data.length, data },
  };
}

function personNote({ name, type, mimeType, problem }: InboxFile, unseen: readonly string[]): string[] {
  if (problem !== undefined) return [`(I could not read ${name}: ${problem.reason}.)`];
  return unseen.includes(mimeType) ? [`(${unseenReason(type, mimeType)}: ${name}.)`] : [];
}
