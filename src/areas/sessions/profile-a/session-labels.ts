import type { SessionFilter } from '../session.js';
import type { SessionStatus } from '../session-status.js';

export const SESSION_STATUSES_A = ['active', 'completed'] as const;
export type SessionStatusA = (typeof SESSION_STATUSES_A)[number];

export const STATUS_FILTERS_A = ['active', 'completed', 'all'] as const;
export type StatusFilterA = (typeof STATUS_FILTERS_A)[number];

const STATUSES = { active: 'active', idle: 'active', terminated: 'completed' } as const satisfies Record<
  SessionStatus,
  SessionStatusA
>;
const FILTERS = { active: 'live', completed: 'terminated', all: 'all' } as const satisfies Record<
  StatusFilterA,
  SessionFilter['status']
>;

/** Profile A knows no idle: a live session is active (docs/specification/api.md, 3). */
export function sessionStatusA(status: SessionStatus): SessionStatusA {
  return STATUSES[status];
}

export function statusFilterOf(label: StatusFilterA): SessionFilter['status'] {
  return FILTERS[label];
}
