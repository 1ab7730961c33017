import type { HeldBytes } from '../../common/bytes/held-bytes.js';
import type { OnCommit } from '../../platform/database/sql.js';
import type { FinishReason, ModelUsage } from '../models/models.api.js';
import type { ToolCallRecord } from '../tools/tools.api.js';
import type { MessageOptions } from './message-options.js';
import type { TurnFailure } from './turn-lease.js';

export type MessageRole = 'user' | 'assistant';
export type AttachmentType = 'image' | 'file' | 'audio' | 'video';

/** A description of an attachment, without its bytes. */
export interface AttachmentInfo {
  readonly id: string;
  readonly type: AttachmentType;
  readonly name: string | null;
  readonly mimeType: string;
  readonly sizeBytes: number;
}

export interface NewAttachment extends AttachmentInfo {
  readonly data: Buffer;
}

/** One stored message of a session's history. */
export interface Message {
  readonly id: string;
  readonly role: MessageRole;
  readonly content: string;
  readonly attachments: readonly AttachmentInfo[];
  readonly toolCalls: readonly ToolCallRecord[];
  /** Tokens that the turn used, input and output; 0 for users' messages. */
  readonly tokensUsed: number;
  readonly model: string | null;
  /** How the answer was cut off; null for a whole one and for users' messages. */
  readonly incomplete: TurnFailure | null;
  /** Why the model stopped; null for users' messages, for answers that were cut off, and for older ones. */
  readonly finishReason: FinishReason | null;
  /** Whether `tokensUsed` is an estimate, at least in part. */
  readonly usageEstimated: boolean;
  readonly createdAt: Date;
  /** What its turn used, by kind; known only where it ran. */
  readonly usage?: ModelUsage;
}

/** A message, and its place in the history, from 1. */
export interface PlacedMessage extends Message {
  readonly seq: number;
}

/** What later turns have to know about a message. */
export type HistoryMessage = Pick<
  PlacedMessage,
  'id' | 'seq' | 'role' | 'content' | 'attachments' | 'toolCalls' | 'incomplete'
>;

/** An attachment whose bytes are still to be fetched. */
export interface RemoteAttachment {
  readonly type: AttachmentType;
  readonly name: string | null;
  /** As announced; the type of the response counts. */
  readonly mimeType: string;
  readonly url: string;
  /** The request field with the URL; `attachments.<n>.url` by default. */
  readonly path?: string;
}

/** A message as it was sent. */
export interface SentMessage extends Omit<NewUserMessage, 'attachments'> {
  /** Counts what is fetched for it, beside the body that it came in. */
  readonly held?: HeldBytes | undefined;
  readonly attachments: readonly (NewAttachment | RemoteAttachment)[];
}

export interface NewUserMessage {
  /** The id that it is to have, a `msg_…`, for callers that look for its turn later; each id begins one turn. */
  readonly id?: string | undefined;
  readonly content: string;
  readonly attachments: readonly NewAttachment[];
  /** How it is to be answered. */
  readonly options?: MessageOptions | undefined;
  /** What the system prompt says about the messages of its conversation: the same with each of them. */
  readonly systemNote?: string | undefined;
  /** Committed with its turn; gets the turn's id. */
  readonly onCommit?: OnCommit<string> | undefined;
}

export interface HistoryPage {
  /** Oldest first. */
  readonly messages: readonly Message[];
  /** Whether older messages than these exist. */
  readonly hasMore: boolean;
}
