import { AsyncLocalStorage } from 'node:async_hooks';

/** Fields of every line that is written on behalf of a session, however deep in the calls. */
export interface LogContext {
  readonly session_id?: string;
  readonly request_id?: string;
}

const NOTHING: LogContext = {};
const storage = new AsyncLocalStorage<LogContext>();

/** Runs `work` so that its log lines, and those of everything it starts, carry these fields beside those around it. */
export function inLogContext<Result>(context: LogContext, work: () => Result): Result {
  return storage.run({ ...storage.getStore(), ...context }, work);
}

/** Runs work that serves many requests, without the fields of the request that happened to start it. */
export function outsideLogContext<Result>(work: () => Result): Result {
  return storage.exit(work);
}

export function currentLogContext(): LogContext {
  return storage.getStore() ?? NOTHING;
}
