import type { SessionFilter } from '../session.js';
import type { SessionStatus } from '../session-status.js';

export const SESSION_WORDS_A = ['active', 'completed'] as const;
export type SessionWordA = (typeof SESSION_WORDS_A)[number];

export const FILTER_WORDS_A = ['active', 'completed', 'all'] as const;
export type FilterWordA = (typeof FILTER_WORDS_A)[number];

const WORDS = { active: 'active', idle: 'active', terminated: 'completed' } as const satisfies Record<
  SessionStatus,
  SessionWordA
>;
const FILTERS = { active: 'live', completed: 'terminated', all: 'all' } as const satisfies Record<
  FilterWordA,
  SessionFilter['status']
>;

/** Profile A knows no idle: a live session is active (docs/specification/api.md, 3). */
export function statusWordA(status: SessionStatus): SessionWordA {
  return WORDS[status];
}

export function filterOfWordA(word: FilterWordA): SessionFilter['status'] {
  return FILTERS[word];
}
