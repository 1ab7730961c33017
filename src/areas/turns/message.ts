import type { OnCommit } from '../../platform/database/sql.js';
import type { FinishReason, ModelUsage } from '../models/models.api.js';
import type { ToolCallRecord } from '../tools/tools.api.js';
import type { MessageOptions } from './message-options.js';
import type { TurnFailure } from './turn-lease.js';

export type MessageRole = 'user' | 'assistant';
export type AttachmentType = 'image' | 'file' | 'audio' | 'video';

/** What was attached, without its bytes. */
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
  /** Tokens that the turn used, in and out; 0 for what a user wrote. */
  readonly tokensUsed: number;
  readonly model: string | null;
  /** How the answer was cut off; null for a whole one and for what a user wrote. */
  readonly incomplete: TurnFailure | null;
  /** Why the model stopped; null for what a user wrote, for an answer that was cut off, and for older ones. */
  readonly finishReason: FinishReason | null;
  /** Whether `tokensUsed` is an estimate, at least in part. */
  readonly usageEstimated: boolean;
  readonly createdAt: Date;
  /** What its turn used, by kind; known where it ran. */
  readonly usage?: ModelUsage;
}

/** A message, and its place in the history, from 1. */
export interface PlacedMessage extends Message {
  readonly seq: number;
}

/** What the turns after a message have to know of it. */
export type HistoryMessage = Pick<
  PlacedMessage,
  'id' | 'seq' | 'role' | 'content' | 'attachments' | 'toolCalls' | 'incomplete'
>;

/** An attachment whose bytes are still to be fetched. */
export interface RemoteAttachment {
  readonly type: AttachmentType;
  readonly name: string | null;
  /** As announced; what the answer says counts. */
  readonly mimeType: string;
  readonly url: string;
  /** Where the caller named the URL; `attachments.<n>.url` unless given. */
  readonly path?: string;
}

/** A message as it was sent. */
export interface SentMessage extends Omit<NewUserMessage, 'attachments'> {
  readonly attachments: readonly (NewAttachment | RemoteAttachment)[];
}

export interface NewUserMessage {
  /** The id that it is to have, a `msg_…`, for whoever has to find its turn again; a message is begun once under it. */
  readonly id?: string | undefined;
  readonly content: string;
  readonly attachments: readonly NewAttachment[];
  /** How it wants to be answered. */
  readonly options?: MessageOptions | undefined;
  /** What the system prompt says of the messages of its conversation: the same with each of them. */
  readonly systemNote?: string | undefined;
  /** What is committed with its turn, given the turn's id. */
  readonly onCommit?: OnCommit<string> | undefined;
}

export interface HistoryPage {
  /** Oldest first. */
  readonly messages: readonly Message[];
  /** Whether older messages than these exist. */
  readonly hasMore: boolean;
}
