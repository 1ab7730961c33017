import { SESSION_STATUSES, type SessionStatus } from '../session-status.js';

/** The words of the list filter in Profile B; a session's own status word is the core's. */
export const STATUS_FILTERS_B = SESSION_STATUSES;
export type StatusFilterB = SessionStatus;
