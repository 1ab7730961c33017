import { INTERRUPTED_NOTE, type TurnResult } from '../../turns/turns.api.js';

/** Texts sent to people in place of an answer, or after an incomplete one. */
export const REPLY_TEXTS = {
  unreadable: 'I can only read text. Please write it to me.',
  failed: 'Sorry, I could not answer that. Please try again in a moment.',
  budgetSpent: 'I have said all that I may today. Please write to me again tomorrow.',
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

/** Breaks are searched for in this last share of a part; earlier ones would make it needlessly short. */
const BREAK_SHARE = 0.5;
/** From best to worst. */
const BREAKS = ['\n\n', '\n', '. ', '! ', '? ', '。', '; ', ', ', ' '];
const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' });
/** Longest cluster of code points (families, flags) that is kept together. */
const MAX_GRAPHEME_LENGTH = 64;

/**
 * Splits a text into parts of at most `longest` UTF-16 code units: between paragraphs, lines, sentences or words if
 * possible, else between grapheme clusters, and never within a surrogate pair. White space at a cut is dropped.
 */
export function splitText(text: string, longest: number): readonly string[] {
  const parts: string[] = [];
  let rest = text.trim();
  while (rest.length > longest) {
    const end = cutOf(rest, longest);
    parts.push(rest.slice(0, end).trimEnd());
    rest = rest.slice(end).trimStart();
  }
  if (rest !== '') parts.push(rest);
  return parts.filter((part) => part !== '');
}

function cutOf(text: string, longest: number): number {
  const window = text.slice(0, longest);
  for (const mark of BREAKS) {
    const found = window.lastIndexOf(mark);
    if (found > longest * (1 - BREAK_SHARE)) return found + mark.length;
  }
  return characterEnd(text, longest);
}

/** The end of the last grapheme cluster that fits; at least one code point, so that splitting makes progress. */
function characterEnd(text: string, longest: number): number {
  const from = codePointStart(text, Math.max(0, longest - MAX_GRAPHEME_LENGTH));
  let end = from;
  for (const { index, segment } of graphemes.segment(text.slice(from, longest + MAX_GRAPHEME_LENGTH))) {
    if (from + index + segment.length > longest) break;
    end = from + index + segment.length;
  }
  return end > 0 ? end : codePointStart(text, longest);
}

/** `at`, or the index before it when `at` is within a surrogate pair. */
function codePointStart(text: string, at: number): number {
  const code = text.charCodeAt(at);
  const before = text.charCodeAt(at - 1);
  const isWithin = code >= 0xdc00 && code <= 0xdfff && before >= 0xd800 && before <= 0xdbff;
  return isWithin ? at - 1 : at;
}
