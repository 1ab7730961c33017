import type { ToolCallRecord } from '../agent/tool-call.js';
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
  readonly createdAt: Date;
}

export interface NewUserMessage {
  readonly content: string;
  readonly attachments: readonly NewAttachment[];
}

export interface HistoryPage {
  /** Oldest first. */
  readonly messages: readonly Message[];
  /** Whether older messages than these exist. */
  readonly hasMore: boolean;
}
