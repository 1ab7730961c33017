import type { WebhookAnswer } from '../adapters/webhook/webhook-answers.store.js';

export interface InboundView {
  readonly status: 'answered' | 'accepted';
  readonly message_id: string;
  /** Null while the message has not reached its session. */
  readonly session_id: string | null;
  /** The answer, once it is there. */
  readonly content?: string;
}

export function presentInbound({ messageId, sessionId, content }: WebhookAnswer): InboundView {
  const facts = { message_id: messageId, session_id: sessionId };
  return content === null ? { status: 'accepted', ...facts } : { status: 'answered', ...facts, content };
}
