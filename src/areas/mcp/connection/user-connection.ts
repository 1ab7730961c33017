import { setTimeout as sleep } from 'node:timers/promises';
import { outsideLogContext } from '../../../platform/logging/log-context.js';
import { fingerprintOf } from '../tools/tool-listing.js';
import { type CallOrigin, onNobodysBehalf } from './call-origin.js';
import type { ConnectionParts } from './connection-state.js';
import { isTimeout } from './mcp-failure.js';
import { McpSession } from './mcp-session.js';
import type { McpSessionParts } from './mcp-session-parts.js';
import type { StartTimeout } from './start-timeout.js';
import type { CloseReason } from './user-connection-metrics.js';

/** However often a server announces changes, its list is read no more often than this. */
const LIST_PAUSE_MS = 300;
const SETTLE_POLL_MS = 1000;

/** The user of a connection, perhaps with the token with which they came when it was opened. */
export type ConnectionOwner = Pick<CallOrigin, 'identityToken'> & { readonly user: string };

/** What a connection of a user depends on. */
export interface UserConnectionParts extends Pick<ConnectionParts, 'settings' | 'makeTransport'> {
  readonly session: McpSessionParts;
  readonly startTimeout: StartTimeout;
  onOpened(tookMs: number): void;
}

/** How one connection went. */
export interface UserConnectionEnd {
  readonly why: unknown;
  readonly closedFor: CloseReason;
  /** How long it was up, in milliseconds; undefined when it could not be opened. */
  readonly lastedMs: number | undefined;
  readonly recentOutput: string | undefined;
}

/**
 * The connection of one user or session to one server. It makes calls and never lists tools, so that opening it costs
 * only a handshake. Callers use `hold` and `release`; it ends when it is closed or lost.
 */
export class UserConnection {
  /** Calls that run, or wait for the connection to open. */
  calls = 0;
  usedAt = performance.now();
  openedInMs: number | undefined;
  private session: McpSession | undefined;
  private closedFor: CloseReason | undefined;
  private readonly over = new AbortController();
  private idleTimer: NodeJS.Timeout | undefined;
  private readonly opening = deferred<McpSession>();
  /** How many changes of its list the server announced here, and how many were checked. */
  private announced = 0;
  private seen = 0;
  private looking: Promise<void> | undefined;
  /** By tool, from the last list that was read here; only after an announcement. */
  private fingerprints: ReadonlyMap<string, string> = new Map();

  constructor(
    readonly key: string,
    readonly owner: ConnectionOwner,
    private readonly parts: UserConnectionParts,
  ) {}

  /** Rejects with the reason when it cannot be opened. */
  get opened(): Promise<McpSession> {
    return this.opening.promise;
  }

  /** Whether new calls may use it. */
  get isUsable(): boolean {
    return this.closedFor === undefined && this.session?.fault === undefined;
  }

  hold(): void {
    clearTimeout(this.idleTimer);
    this.calls += 1;
  }

  release(onIdle: () => void): void {
    this.calls -= 1;
    this.usedAt = performance.now();
    if (this.calls > 0 || this.closedFor !== undefined) return;
    this.idleTimer = setTimeout(onIdle, this.parts.settings.idle_secs * 1000).unref();
  }

  /** Resolves when the list that the server announced to this user has been read; calls wait for it. */
  async settled(signal: AbortSignal): Promise<void> {
    while (this.seen < this.announced && this.isUsable && !signal.aborted) {
      // Reading may not have begun yet.
      await Promise.race([this.looking ?? sleep(1), sleep(SETTLE_POLL_MS, undefined, { ref: false })]);
    }
    signal.throwIfAborted();
  }

  /** What the server tells this user about a tool, if it announced a change to them; undefined otherwise. */
  fingerprintOf(tool: string): string | undefined {
    return this.fingerprints.get(tool);
  }

  close(reason: CloseReason): void {
    this.closedFor ??= reason;
    clearTimeout(this.idleTimer);
    this.over.abort(new Error(CLOSED[this.closedFor]));
  }

  /** Runs it from the start of its child to its end; `onLost` is called before the child is gone. Never rejects. */
  run(onLost: () => void): Promise<UserConnectionEnd> {
    return onNobodysBehalf(() => outsideLogContext(() => this.live(onLost)));
  }

  private async live(onLost: () => void): Promise<UserConnectionEnd> {
    const { signal } = this.over;
    const startedAt = performance.now();
    let upAt: number | undefined;
    let why: unknown;
    try {
      signal.throwIfAborted();
      const { parts } = this;
      const origin = this.owner;
      const session = {
        ...parts.session,
        onToolsChanged: () => this.onToolsChanged(),
        reopen: (earlier: string) => parts.makeTransport(origin, earlier),
      };
      this.session = new McpSession(parts.makeTransport(origin), parts.settings, session);
      await this.open(this.session, signal);
      upAt = performance.now();
      this.openedInMs = upAt - startedAt;
      this.parts.onOpened(this.openedInMs);
      this.opening.resolve(this.session);
      why = await this.session.watch(signal);
    } catch (error) {
      why = error;
      this.opening.reject(error);
    }
    this.close('lost');
    onLost();
    await this.session?.close();
    return {
      why,
      closedFor: this.closedFor ?? 'lost',
      lastedMs: upAt === undefined ? undefined : performance.now() - upAt,
      recentOutput: this.session?.recentOutput,
    };
  }

  /** What it says here may differ from what it says on the shared connection, which reads the list too. */
  private onToolsChanged(): void {
    this.announced += 1;
    this.parts.session.onToolsChanged();
    this.looking ??= this.readList().finally(() => (this.looking = undefined));
  }

  private async readList(): Promise<void> {
    const { signal } = this.over;
    try {
      const session = await this.opened;
      for (let isFirst = true; this.seen < this.announced; isFirst = false) {
        if (!isFirst) await sleep(LIST_PAUSE_MS, undefined, { signal, ref: false });
        const { announced } = this;
        const { definitions } = await session.listTools(signal);
        this.fingerprints = new Map(definitions.map((tool) => [tool.name, fingerprintOf(tool)]));
        this.seen = announced;
      }
    } catch (error) {
      this.session?.giveUp(error instanceof Error ? error : new Error(String(error)));
    }
  }

  private async open(session: McpSession, signal: AbortSignal): Promise<void> {
    const { startTimeout } = this.parts;
    const { limitMs } = startTimeout;
    const late = AbortSignal.timeout(limitMs);
    try {
      await session.open(AbortSignal.any([signal, late]), limitMs);
      startTimeout.wasReady();
    } catch (error) {
      signal.throwIfAborted();
      if (late.aborted || isTimeout(error)) throw startTimeout.wasLate();
      throw session.fault ?? error;
    }
  }
}

const CLOSED: Readonly<Record<CloseReason, string>> = {
  idle: 'it was not used any more',
  evicted: 'its place was needed for another user',
  lost: 'the connection was lost',
  stopped: 'the connections to the server are closed',
};

interface Deferred<Value> {
  readonly promise: Promise<Value>;
  resolve(value: Value): void;
  reject(reason: unknown): void;
}

function deferred<Value>(): Deferred<Value> {
  let settle: Pick<Deferred<Value>, 'resolve' | 'reject'> | undefined;
  const promise = new Promise<Value>((resolve, reject) => (settle = { resolve, reject }));
  // Nobody may be waiting for it.
  promise.catch(() => undefined);
  return { promise, ...(settle as unknown as Pick<Deferred<Value>, 'resolve' | 'reject'>) };
}
