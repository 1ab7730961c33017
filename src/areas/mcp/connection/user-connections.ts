import { setTimeout as sleep } from 'node:timers/promises';
import { backOffMs } from '../../../platform/runtime/back-off.js';
import { Slots } from '../../../platform/runtime/slots.js';
import type { ToolOutput } from '../../tools/tools.api.js';
import { PROMPT_CALL } from '../prompts/server-prompt.js';
import type { RunTool } from '../tools/offered-tools.js';
import { type CallContext, onBehalfOf, originOf } from './call-origin.js';
import type { ConnectionParts } from './connection-state.js';
import { withLinkedSignal } from './linked-signal.js';
import {
  failureText,
  isSessionGone,
  McpConnectionFailed,
  McpToolWithdrawn,
  toldFailure,
} from './mcp-failure.js';
import type { McpSessionParts } from './mcp-session-parts.js';
import { type CurrentTools, callFailure, withoutSecrets } from './server-calls.js';
import { StartTimeout } from './start-timeout.js';
import { throughLostConnections } from './task-retries.js';
import { type ConnectionOwner, UserConnection, type UserConnectionEnd } from './user-connection.js';
import type { CloseReason } from './user-connection-metrics.js';

/** After a connection has lasted this long, back-off starts from the beginning. */
const STABLE_MS = 10_000;
const FIRST_BACK_OFF_MS = 500;
/** A call waits this long for the next attempt to connect; when that is further away, it fails. */
const MAX_WAIT_MS = 2000;
/** The most failures of users that are remembered. */
const MAX_FAILURES = 1000;

interface Failure {
  readonly count: number;
  readonly retryAt: number;
  readonly reason: string;
}

/** What the users' connections see of the shared connection, which lists the tools. */
export interface ToolSource extends Pick<CurrentTools, 'settled'> {
  /** The definition of a tool as it is offered; undefined for a tool that is not. */
  fingerprintOf(tool: string): string | undefined;
  readonly sessionParts: McpSessionParts;
  /** Throws `McpServerDown`: without the list nobody knows what a tool is. */
  assertUp(): void;
}

/** How many connections of users there are. */
export interface UserConnectionCounts {
  readonly busy: number;
  readonly idle: number;
}

/**
 * The connections to one server that make calls: one for each user, or each session of a user. A connection is opened
 * at the first call and closed after `idle_secs`. There are at most `max_connections`: to open one more, the one that
 * was idle longest is closed, and when all are busy the call fails. A connection that makes a call is never closed for
 * another. Each stdio connection has its own child process.
 */
export class UserConnections {
  private readonly connections = new Map<string, UserConnection>();
  /** Includes connections that are opening or closing. */
  private readonly slots: Slots;
  private readonly ends = new Map<UserConnection, Promise<void>>();
  private readonly failures = new Map<string, Failure>();
  private readonly startTimeout: StartTimeout;
  private isStopped = false;

  constructor(
    private readonly parts: ConnectionParts,
    private readonly source: ToolSource,
  ) {
    this.slots = new Slots(parts.settings.max_connections);
    this.startTimeout = new StartTimeout(parts.name, parts.settings.startup_timeout_ms);
  }

  get counts(): UserConnectionCounts {
    const busy = [...this.connections.values()].filter(({ calls }) => calls > 0).length;
    return { busy, idle: this.connections.size - busy };
  }

  readonly call: RunTool = (tool, args, signal, context) =>
    withoutSecrets(this.parts, () =>
      throughLostConnections(this.parts.settings, context, signal, () =>
        this.answered(tool, args, signal, context),
      ),
    );

  /** Ends all connections; running calls fail. Resolves when their children are gone. */
  async stop(): Promise<void> {
    this.isStopped = true;
    this.closeAll();
    await Promise.all(this.ends.values());
  }

  /** Ends the connections of one user, as `isTheirs` says; resolves when their children are gone. */
  async closeOf(isTheirs: (user: string) => boolean): Promise<void> {
    const theirs = [...this.ends].filter(([{ owner }]) => isTheirs(owner.user));
    for (const [connection] of theirs) this.close(connection, 'stopped');
    await Promise.all(theirs.map(([, ended]) => ended));
  }

  /** Ends all connections; the next calls open new ones. */
  closeAll(): void {
    this.failures.clear();
    for (const connection of [...this.connections.values()]) this.close(connection, 'stopped');
  }

  /** A server that no longer knows our session did not run the call, so it is made once more. */
  private async answered(...[tool, args, signal, context]: Parameters<RunTool>): Promise<ToolOutput> {
    for (let attempt = 1; ; attempt += 1) {
      const connection = await this.acquire(context, signal);
      try {
        const session = await this.sessionOf(connection, signal);
        await this.source.settled(signal);
        this.source.assertUp();
        await connection.settled(signal);
        // A task keeps running, even if its tool was changed or removed.
        if (context?.call?.task === undefined && !this.isAsOffered(tool, connection))
          throw new McpToolWithdrawn(tool);
        const answer = await onBehalfOf(originOf(context), () =>
          session.call(tool, args, signal, context),
        ).catch((error: unknown) => {
          if (attempt > 1 || signal.aborted || !isSessionGone(error))
            throw callFailure(this.parts, error, session, signal);
          session.giveUp(error as Error);
          return undefined;
        });
        if (answer !== undefined) return answer;
      } finally {
        connection.release(() => this.close(connection, 'idle'));
      }
    }
  }

  /** Whether the tool is offered, and the server tells this user the same about it, as far as it announced changes. */
  private isAsOffered(tool: string, connection: UserConnection): boolean {
    if (tool === PROMPT_CALL) return true;
    const offered = this.source.fingerprintOf(tool);
    return offered !== undefined && (connection.fingerprintOf(tool) ?? offered) === offered;
  }

  /** The connection of this caller, held; opened when there is none. */
  private async acquire(context: CallContext | undefined, signal: AbortSignal): Promise<UserConnection> {
    const { user, identityToken, sessionId = '' } = originOf(context);
    const owner = identityToken === undefined ? { user } : { user, identityToken };
    const key = this.parts.settings.isolation === 'session' ? `${sessionId}\n${user}` : user;
    const failure = this.failures.get(key);
    const waitMs = failure === undefined ? 0 : failure.retryAt - performance.now();
    if (failure !== undefined && waitMs > 0) {
      if (waitMs > MAX_WAIT_MS) throw new McpConnectionFailed(this.parts.name, failure.reason, waitMs);
      await sleep(waitMs, undefined, { signal });
    }
    const known = this.connections.get(key);
    if (known !== undefined && !known.isUsable) this.close(known, 'lost');
    const connection = known?.isUsable === true ? known : this.open(key, owner);
    connection.hold();
    return connection;
  }

  private open(key: string, owner: ConnectionOwner): UserConnection {
    if (this.isStopped)
      throw new McpConnectionFailed(this.parts.name, 'the connections to the server are closed');
    this.makeRoom();
    const { sessionParts: session } = this.source;
    const { settings } = this.parts;
    const parts = {
      settings,
      session,
      startTimeout: this.startTimeout,
      makeTransport: this.parts.makeTransport,
      onOpened: (tookMs: number) => this.parts.metrics.opened(tookMs),
    };
    const connection = new UserConnection(key, owner, parts);
    this.connections.set(key, connection);
    // The child of a closed connection may still be ending.
    const ended = this.slots
      .run(() => connection.run(() => this.forget(connection)))
      .then((end) => this.afterEnd(connection, end))
      .finally(() => this.ends.delete(connection));
    this.ends.set(connection, ended);
    return connection;
  }

  private makeRoom(): void {
    const { name, settings } = this.parts;
    if (this.connections.size < settings.max_connections) return;
    const idle = [...this.connections.values()].filter(({ calls }) => calls === 0);
    const [oldest] = idle.sort((one, other) => one.usedAt - other.usedAt);
    if (oldest === undefined) {
      throw new McpConnectionFailed(
        name,
        `all ${settings.max_connections} connections that there may be (max_connections) are busy with calls of other users`,
      );
    }
    this.close(oldest, 'evicted');
  }

  private close(connection: UserConnection, reason: CloseReason): void {
    connection.close(reason);
    this.forget(connection);
  }

  private forget(connection: UserConnection): void {
    if (this.connections.get(connection.key) === connection) this.connections.delete(connection.key);
  }

  private async sessionOf(connection: UserConnection, signal: AbortSignal) {
    try {
      return await withLinkedSignal(signal, (linked) => Promise.race([connection.opened, aborted(linked)]));
    } catch (error) {
      signal.throwIfAborted();
      throw new McpConnectionFailed(this.parts.name, toldFailure(error, this.parts.redact));
    }
  }

  private afterEnd(connection: UserConnection, end: UserConnectionEnd): void {
    const { logger, metrics, redact } = this.parts;
    const { closedFor, lastedMs, why, recentOutput } = end;
    metrics.ended(connection.openedInMs, closedFor);
    const output = recentOutput === undefined ? '' : `; its last output: ${recentOutput}`;
    const reason = redact(`${failureText(why, redact)}${output}`);
    const told = redact(`${toldFailure(why, redact)}${output}`);
    if (closedFor !== 'lost') {
      if (lastedMs !== undefined && lastedMs > STABLE_MS) this.failures.delete(connection.key);
      if (lastedMs !== undefined) logger.debug('the connection of a user was closed', { reason });
      return;
    }
    this.remember(connection.key, lastedMs, told);
    const what =
      lastedMs === undefined
        ? 'the server could not be connected to for a user'
        : 'the connection of a user was lost';
    logger.warn(what, { reason });
  }

  private remember(key: string, lastedMs = 0, reason: string): void {
    const before = this.failures.get(key)?.count ?? 0;
    this.failures.delete(key);
    if (lastedMs > STABLE_MS) return;
    const [first] = this.failures.keys();
    if (first !== undefined && this.failures.size >= MAX_FAILURES) this.failures.delete(first);
    const retryAt = performance.now() + backOffMs(before, FIRST_BACK_OFF_MS);
    this.failures.set(key, { count: before + 1, retryAt, reason });
  }
}

/** Rejects with the reason when the signal is aborted. */
function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const fail = (): void => reject(signal.reason as Error);
    if (signal.aborted) fail();
    signal.addEventListener('abort', fail, { once: true });
  });
}
