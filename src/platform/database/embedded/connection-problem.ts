import { codeOf } from './embedded-postgres.error.js';

const absent = ['ENOENT', 'ECONNREFUSED', 'ENOTDIR', 'EACCES'];
const notYet = '57P03';
/** Shutting down, crashing, starting, full; and the kernel's words for the same. */
const passing = ['57P01', '57P02', notYet, '53300', 'ECONNRESET', 'EPIPE'];

/** What a failed connection says of the server: nobody listens, it lets nobody in yet, it may answer soon, or never so. */
export type ConnectionProblem = 'absent' | 'closed' | 'passing' | 'lasting';

export function connectionProblem(error: unknown): ConnectionProblem {
  const code = codeOf(error);
  // The driver's own errors, such as a connection that ended under it, have no code.
  if (code === undefined) return 'passing';
  if (absent.includes(code)) return 'absent';
  if (code === notYet) return 'closed';
  return passing.includes(code) ? 'passing' : 'lasting';
}
