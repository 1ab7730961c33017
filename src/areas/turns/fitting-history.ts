import {
  BYTES_PER_TOKEN,
  estimatedTokens,
  TOKENS_PER_IMAGE,
  TOKENS_PER_MESSAGE,
} from '../models/models.api.js';
import type { AttachmentInfo, Message, NewUserMessage } from './message.js';

/** What the model is told when it does not see the whole conversation. */
export const LEFT_OUT_NOTE = '[The oldest messages of this conversation are left out, because it is long.]';

export interface FittingHistory {
  readonly fitting: readonly Message[];
  /** Messages that are not given to the model. */
  readonly leftOut: number;
}

/**
 * The newest exchanges that fit into `room` tokens together with the new message: whole exchanges go, a user message
 * with all that follows it, the oldest first. The last exchange and the new message always stay; if they alone are too
 * long, the provider says so.
 */
export function fittingHistory(
  history: readonly Message[],
  message: Pick<NewUserMessage, 'content' | 'attachments'>,
  room: number,
): FittingHistory {
  let left = room - tokensOf(message);
  let begin = history.length;
  let exchange = 0;
  for (let index = history.length - 1; index >= 0; index -= 1) {
    const said = history[index] as Message;
    exchange += tokensOf(said);
    if (said.role !== 'user' && index > 0) continue;
    if (exchange > left && begin < history.length) break;
    left -= exchange;
    exchange = 0;
    begin = index;
  }
  return { fitting: history.slice(begin), leftOut: begin };
}

function tokensOf({ content, attachments }: Pick<Message, 'content' | 'attachments'>): number {
  const attached = attachments.reduce((sum, one) => sum + attachmentTokens(one), 0);
  return TOKENS_PER_MESSAGE + estimatedTokens(content) + attached;
}

function attachmentTokens({ type, sizeBytes }: AttachmentInfo): number {
  return type === 'image' ? TOKENS_PER_IMAGE : Math.ceil(sizeBytes / BYTES_PER_TOKEN);
}
