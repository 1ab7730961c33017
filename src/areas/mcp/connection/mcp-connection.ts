import { setTimeout as sleep } from 'node:timers/promises';
import { backOffMs } from '../../../platform/runtime/back-off.js';
import type { McpServerSettings } from '../../../platform/settings/sections/mcp.section.js';
import type { McpServer } from '../mcp-server.js';
import type { OfferedTools, RunTool } from '../tools/offered-tools.js';
import type { Callable, ConnectionParts } from './connection-parts.js';
import { ConnectionState } from './connection-state.js';
import { isFinal, isTimeout } from './mcp-failure.js';
import { McpSession } from './mcp-session.js';
import { ServerCalls } from './server-calls.js';
import { StartTimeout } from './start-timeout.js';
import { ToolList } from './tool-list.js';

/** A connection that held so long was a good one: the next failure is the first. */
const STABLE_MS = 10_000;
const FIRST_BACK_OFF_MS = 500;

/**
 * Supervises one server for as long as it is configured: connects, offers its tools, watches it, and connects again
 * with back-off. There is one connection at a time, and the next begins when the last is really over.
 */
export class McpConnection implements Callable {
  readonly call: RunTool;
  private readonly state: ConnectionState;
  private readonly tools: OfferedTools;
  private readonly list: ToolList;
  private readonly startTimeout: StartTimeout;
  private readonly stopped = new AbortController();
  private round = new AbortController();
  private running: Promise<void> = Promise.resolve();

  constructor(private readonly parts: ConnectionParts) {
    this.state = new ConnectionState(parts);
    this.tools = parts.offered(this);
    this.list = new ToolList(this.tools, this.state, (tools) => parts.isAnyFree(tools));
    this.startTimeout = new StartTimeout(parts.name, parts.settings.startup_timeout_ms);
    this.call = new ServerCalls(parts, this.state, this.list).call;
  }

  get settings(): McpServerSettings {
    return this.parts.settings;
  }

  /** Whether it was tried and did not go well. */
  get isFailing(): boolean {
    return this.state.status !== 'connected' && this.state.problem !== undefined;
  }

  describe(): McpServer {
    const { status, connectedAt, problem } = this.state;
    return {
      name: this.parts.name,
      transport: this.settings.transport,
      status,
      tools: this.isUp() ? this.tools.tools : [],
      connectedAt,
      error: problem,
      warning: this.parts.warning,
    };
  }

  isUp(): boolean {
    return this.state.isUp();
  }

  start(): void {
    this.running = this.run();
  }

  /** Resolves when nothing is left of it. */
  async stop(): Promise<void> {
    this.state.leave();
    this.stopped.abort(new Error('the gateway stops'));
    this.round.abort(this.stopped.signal.reason);
    await this.running;
    this.tools.withdrawAll();
  }

  /** Leaves what there is and begins anew; the status says so at once. */
  reconnect(): void {
    const why = new Error('a reconnection was asked for');
    this.state.down('reconnecting');
    this.round.abort(why);
  }

  private async run(): Promise<void> {
    for (let failures = 0; !this.stopped.signal.aborted; ) {
      this.round = new AbortController();
      const { signal } = this.round;
      const { why, lastedMs } = await this.live(signal);
      if (signal.aborted) {
        failures = 0;
        continue;
      }
      failures = lastedMs > STABLE_MS ? 0 : failures + 1;
      await pause(isFinal(why) ? undefined : backOffMs(failures - 1, FIRST_BACK_OFF_MS), signal);
    }
    this.state.down('disconnected');
  }

  /** One connection from its beginning to its end. @returns why it ended, and how long it held */
  private async live(signal: AbortSignal): Promise<{ why: unknown; lastedMs: number }> {
    let session: McpSession | undefined;
    let upAt: number | undefined;
    let why: unknown;
    try {
      session = this.newSession(signal);
      await this.open(session, signal);
      upAt = performance.now();
      this.state.up(session, this.tools.tools.length);
      void this.list.catchUp(session, signal);
      void this.list.awaitApprovals(session, signal);
      why = await session.watch(signal);
    } catch (error) {
      why = error;
    }
    // Whoever asks from here on is told the truth, however long the old connection takes to end.
    if (!signal.aborted) this.state.lost(why);
    await session?.close();
    if (!signal.aborted) this.state.complain(upAt !== undefined, why, session?.recentOutput);
    return { why, lastedMs: upAt === undefined ? 0 : performance.now() - upAt };
  }

  private newSession(signal: AbortSignal): McpSession {
    const session: McpSession = new McpSession(this.parts.makeTransport(), this.settings, {
      checks: this.parts.checks,
      onToolsChanged: () => void this.list.refresh(session, signal),
    });
    return session;
  }

  private async open(session: McpSession, signal: AbortSignal): Promise<void> {
    const { limitMs } = this.startTimeout;
    const late = AbortSignal.timeout(limitMs);
    const inTime = AbortSignal.any([signal, late]);
    try {
      await session.open(inTime, limitMs);
      await this.list.offer(session, inTime, limitMs);
      this.startTimeout.wasReady();
    } catch (error) {
      const isLate = late.aborted || isTimeout(error);
      if (!isLate || signal.aborted) throw session.fault ?? error;
      throw this.startTimeout.wasLate();
    }
  }
}

async function pause(ms: number | undefined, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  if (ms !== undefined) return sleep(ms, undefined, { signal }).catch(() => undefined);
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
