import { INTERRUPTED_NOTE, type TurnResult } from '../../turns/turns.api.js';

/** Texts sent to people in place of an answer, or after an incomplete one. */
export const REPLY_TEXTS = {
  unreadable: 'I cannot read messages of this kind. Please write to me, or send me a picture or a file.',
  failed: 'Sorry, I could not answer that. Please try again in a moment.',
  budgetSpent: 'I have said all that I may today. Please write to me again tomorrow.',
  notAllowed: 'I may not talk to you here.',
  cancelled: 'This answer was stopped.',
  length: '(My answer became too long and was cut off here. Ask me to go on.)',
  content_filter: '(The rest of this answer was withheld by a content filter.)',
  refusal: '(I cannot say more about this.)',
  filtered: 'My answer was withheld by a content filter. Please ask in another way.',
  refused: 'I cannot help with that.',
  tooLong: 'I ran out of room before I could answer. Please ask for less at once.',
  interrupted:
    'I was interrupted and could not finish this answer. Please send your message again if it is still needed.',
  maybeLost:
    'My last answer may not have reached you completely. Ask me to repeat it if something is missing.',
  fileGone: 'it is no longer kept',
  noFiles: 'files cannot be sent here',
  tooManyFiles: 'an answer may bring 10 files and 20 MiB',
} as const;

/** The reply to a turn that has ended: its answer, or the partial answer with a note that it is incomplete. */
export function replyText({
  status,
  content,
  finishReason,
}: Pick<TurnResult, 'status' | 'content' | 'finishReason'>): string {
  const text = content === INTERRUPTED_NOTE ? '' : (content?.trim() ?? '');
  if (status === 'completed')
    return text === '' ? replyWithoutText(finishReason) : withNote(text, finishReason);
  const note = status === 'interrupted' || status === 'cancelled' ? REPLY_TEXTS[status] : REPLY_TEXTS.failed;
  return text === '' ? note : `${text}\n\n${note}`;
}

/** What the reader is told about a file that does not come. The reason ends the sentence. */
export function unsentFile(name: string, reason: string): string {
  return `(I could not send ${name}: ${reason}.)`;
}

/** What a reader is told who asks again for a file that is already in their OneDrive. */
export function sentFile(name: string): string {
  return `(I have sent ${name} already: it is in your OneDrive.)`;
}

/** Adds why the answer stopped early. A refusal, too, may come after some text. */
function withNote(text: string, finishReason: TurnResult['finishReason']): string {
  const isWhole = finishReason === null || finishReason === 'stop' || finishReason === 'tool_calls';
  return isWhole ? text : `${text}\n\n${REPLY_TEXTS[finishReason]}`;
}

function replyWithoutText(finishReason: TurnResult['finishReason']): string {
  switch (finishReason) {
    case 'content_filter':
      return REPLY_TEXTS.filtered;
    case 'refusal':
      return REPLY_TEXTS.refused;
    case 'length':
      return REPLY_TEXTS.tooLong;
    case 'stop':
    case 'tool_calls':
    case null:
      return REPLY_TEXTS.failed;
    default:
      return finishReason satisfies never;
  }
}
