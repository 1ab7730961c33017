import { INTERRUPTED_NOTE } from '../../sessions/turn-lease.js';
import type { TurnResult } from '../../sessions/turn-results.store.js';

/** What people are told in place of an answer, or behind one that was cut off. */
export const WORDS = {
  unreadable: 'I can only read text. Please write it to me.',
  failed: 'Sorry, I could not answer that. Please try again in a moment.',
  budgetSpent: 'I have said all that I may today. Please write to me again tomorrow.',
  cancelled: 'This answer was stopped.',
  interrupted:
    'I was interrupted and could not finish this answer. Please send your message again if it is still needed.',
  maybeLost:
    'My last answer may not have reached you completely. Ask me to repeat it if something is missing.',
} as const;

/** What is said in the conversation when a turn is over: its answer; else what there is of it, and that it is not whole. */
export function wordsFor({ status, content }: Pick<TurnResult, 'status' | 'content'>): string {
  const said = content === INTERRUPTED_NOTE ? '' : (content?.trim() ?? '');
  if (status === 'completed') return said === '' ? WORDS.failed : said;
  const note = status === 'interrupted' || status === 'cancelled' ? WORDS[status] : WORDS.failed;
  return said === '' ? note : `${said}\n\n${note}`;
}
