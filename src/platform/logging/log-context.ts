import { AsyncLocalStorage } from 'node:async_hooks';

/** Who caused an action, and from where, for the audit. */
export interface Origin {
  /** The name of the caller: a token, or a person at the command line. */
  readonly actor: string;
  /** Null for actions that did not come over the network. */
  readonly address: string | null;
  readonly tokenId?: string;
}

/** A symbol, so that no log line shows it. */
const ORIGIN = Symbol('origin');

/** Fields of every line that is written on behalf of a session, wherever in the code that is. */
export interface LogContext {
  readonly session_id?: string;
  readonly request_id?: string;
  readonly [ORIGIN]?: () => Origin;
}

const NOTHING: LogContext = {};
const storage = new AsyncLocalStorage<LogContext>();

/**
 * Runs `work` so that its log lines, and those of everything it starts, have these fields in addition to the
 * surrounding ones.
 */
export function inLogContext<Result>(context: LogContext, work: () => Result): Result {
  return storage.run({ ...storage.getStore(), ...context }, work);
}

/** Runs `work` on behalf of a caller, who may become known only later: `origin` is called when something is audited. */
export function onBehalfOf<Result>(origin: () => Origin, context: LogContext, work: () => Result): Result {
  return storage.run({ ...storage.getStore(), ...context, [ORIGIN]: origin }, work);
}

/** Runs work that serves many requests, without the fields of the request that happened to start it. */
export function outsideLogContext<Result>(work: () => Result): Result {
  return storage.exit(work);
}

export function currentLogContext(): LogContext {
  return storage.getStore() ?? NOTHING;
}

/** Undefined for what the gateway does on its own. */
export function currentOrigin(): Origin | undefined {
  const { [ORIGIN]: origin } = currentLogContext();
  return origin?.();
}
