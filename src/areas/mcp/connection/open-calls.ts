import { AsyncLocalStorage } from 'node:async_hooks';
import { SdkError, SdkErrorCode } from '@modelcontextprotocol/client';
import { PausableTimer } from '../../../platform/runtime/pausable-timer.js';
import type { CallContext } from './call-origin.js';

/** A call that runs at the server. */
export interface OpenCall {
  readonly context: CallContext | undefined;
  /** How long the server may still be silent. */
  readonly silence: PausableTimer;
  /** Aborted when the call is over, whatever ended it. */
  readonly signal: AbortSignal;
}

/**
 * In whose response a server's request arrived: over HTTP, whatever belongs to a call arrives in the response to it.
 */
const answered = new AsyncLocalStorage<OpenCall>();

/** The calls that run on one connection, so that a server's requests reach the people of the right call. */
export class OpenCalls {
  private readonly open = new Set<OpenCall>();

  constructor(private readonly maxSilenceMs: number) {}

  get size(): number {
    return this.open.size;
  }

  /** Makes a call; its signal follows `parent`, and is aborted when the server was silent for too long. */
  async run<Result>(
    context: CallContext | undefined,
    parent: AbortSignal,
    work: (call: OpenCall) => Promise<Result>,
  ): Promise<Result> {
    const over = new AbortController();
    const timeout = this.maxSilenceMs;
    const silence = new PausableTimer(timeout, () =>
      over.abort(new SdkError(SdkErrorCode.RequestTimeout, 'Request timed out', { timeout })),
    );
    const follow = (): void => over.abort(parent.reason);
    if (parent.aborted) follow();
    parent.addEventListener('abort', follow, { once: true });
    const call: OpenCall = { context, silence, signal: over.signal };
    this.open.add(call);
    try {
      return await answered.run(call, () => work(call));
    } finally {
      this.open.delete(call);
      parent.removeEventListener('abort', follow);
      silence.clear();
      over.abort(new Error('the call is over'));
    }
  }

  /**
   * The call that the server's request belongs to. Where the transport does not say, it is the running call, or the
   * latest of several in one session of one user; undefined when it could be somebody else's.
   */
  current(): OpenCall | undefined {
    const known = answered.getStore();
    if (known !== undefined) return this.open.has(known) ? known : undefined;
    const calls = [...this.open];
    const [first] = calls;
    const isOne = calls.every(({ context }) => isSame(context, first?.context));
    return isOne ? calls.at(-1) : undefined;
  }
}

function isSame(one: CallContext | undefined, other: CallContext | undefined): boolean {
  return (
    one !== undefined &&
    other !== undefined &&
    one.actsFor === other.actsFor &&
    one.sessionId === other.sessionId
  );
}
