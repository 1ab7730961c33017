import { setTimeout as sleep } from 'node:timers/promises';
import type { Transport } from '@modelcontextprotocol/client';
import type { McpServerSettings } from '../../config/sections/mcp.section.js';
import type { Logger } from '../../logs/logger.js';
import type { McpServer, McpServerStatus } from '../mcp-server.js';
import type { OfferedTools } from '../tools/offered-tools.js';
import { definitionOf } from '../tools/tool-definition.js';
import { backOffMs } from './back-off.js';
import { withLinkedSignal } from './linked-signal.js';
import {
  failureWords,
  isAnswer,
  isAuthRefusal,
  isSessionGone,
  McpServerDown,
  McpServerLost,
} from './mcp-failure.js';
import { McpSession, McpToolFailed } from './mcp-session.js';

/** A connection that held so long was a good one: the next failure is the first. */
const STABLE_MS = 10_000;
const QUARANTINE_LOOK_MS = 1000;
const MOST_PROBLEM = 500;
/** How long a call waits for a server that forgot our session, and how often it looks. */
const AGAIN_MS = 5000;
const AGAIN_LOOK_MS = 25;

export interface ConnectionParts {
  readonly name: string;
  readonly settings: McpServerSettings;
  readonly logger: Logger;
  /** Throws when the settings do not suffice to make one. */
  makeTransport(): Transport;
  /** What the server has in the catalogue; made for this connection. */
  offered(connection: McpConnection): OfferedTools;
  isAnyFree(tools: readonly string[]): Promise<boolean>;
  /** Told of every change between connected and not. `error` is redacted. */
  onChange(connected: boolean, error: string | undefined): void;
  redact(text: string): string;
}

/**
 * Supervises one server for as long as it is configured: connects, offers its tools, watches it, and connects again
 * with back-off. There is one connection at a time, and the next begins when the last is really over.
 */
export class McpConnection {
  private readonly tools: OfferedTools;
  private readonly stopped = new AbortController();
  private round = new AbortController();
  private running: Promise<void> = Promise.resolve();
  private session: McpSession | undefined;
  private connectedAt: Date | undefined;
  private status: McpServerStatus = 'reconnecting';
  private problem: string | undefined;
  private isStale = false;
  private isRefreshing = false;

  constructor(private readonly parts: ConnectionParts) {
    this.tools = parts.offered(this);
  }

  get settings(): McpServerSettings {
    return this.parts.settings;
  }

  /** Whether it was tried and did not go well. */
  get isFailing(): boolean {
    return this.status !== 'connected' && this.problem !== undefined;
  }

  describe(): McpServer {
    const { name, settings } = this.parts;
    return {
      name,
      transport: settings.transport,
      status: this.status,
      tools: this.isUp() ? this.tools.tools : [],
      connectedAt: this.connectedAt,
      error: this.problem,
    };
  }

  isUp(): boolean {
    // The session knows first that it is lost.
    return this.session !== undefined && this.session.fault === undefined;
  }

  start(): void {
    this.running = this.run();
  }

  /** Resolves when nothing is left of it. */
  async stop(): Promise<void> {
    this.stopped.abort(new Error('the gateway stops'));
    this.round.abort(this.stopped.signal.reason);
    await this.running;
    this.tools.withdrawAll();
  }

  /** Leaves what there is and begins anew; the status says so at once. */
  reconnect(): void {
    const why = new Error('a reconnection was asked for');
    this.down('reconnecting', undefined);
    this.round.abort(why);
  }

  /** Throws at once when the server is not connected, and in the words of `mcp-failure` for whatever goes wrong. */
  async call(tool: string, args: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<string> {
    const { session } = this;
    const { name } = this.parts;
    if (session === undefined || !this.isUp()) throw new McpServerDown(name);
    try {
      return await session.call(tool, args, signal);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (error instanceof McpToolFailed) throw error;
      if (isAnswer(error)) throw new Error(this.words(error), { cause: error });
      session.giveUp(error instanceof Error ? error : new Error(String(error)));
      if (!isSessionGone(error)) throw new McpServerLost(name);
      // It knows nothing of our session, so it did nothing of what it was asked.
      return this.callAgain(tool, args, signal);
    }
  }

  private async callAgain(
    tool: string,
    args: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<string> {
    const old = this.session;
    for (let waitedMs = 0; waitedMs < AGAIN_MS; waitedMs += AGAIN_LOOK_MS) {
      await sleep(AGAIN_LOOK_MS, undefined, { signal });
      if (this.session !== undefined && this.session !== old) return this.session.call(tool, args, signal);
    }
    throw new McpServerDown(this.parts.name);
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
      await pause(isAuthRefusal(why) ? undefined : backOffMs(failures - 1), signal);
    }
    this.down('disconnected', undefined);
  }

  /** One connection from its beginning to its end. @returns why it ended, and how long it held */
  private async live(signal: AbortSignal): Promise<{ why: unknown; lastedMs: number }> {
    let session: McpSession | undefined;
    let upAt: number | undefined;
    let why: unknown;
    try {
      const transport = this.parts.makeTransport();
      session = new McpSession(transport, this.settings, () => void this.refresh(session, signal));
      await this.open(session, signal);
      upAt = performance.now();
      this.up(session);
      void this.awaitApprovals(session, signal);
      why = await session.watch(signal);
    } catch (error) {
      why = error;
    }
    // Whoever asks from here on is told the truth, however long the old connection takes to end.
    if (!signal.aborted) this.down(isAuthRefusal(why) ? 'disconnected' : 'reconnecting', this.words(why));
    await session?.close();
    if (!signal.aborted) this.complain(upAt !== undefined, why, session?.lastWords);
    return { why, lastedMs: upAt === undefined ? 0 : performance.now() - upAt };
  }

  private async open(session: McpSession, signal: AbortSignal): Promise<void> {
    const late = AbortSignal.timeout(this.parts.settings.startup_timeout_ms);
    const inTime = AbortSignal.any([signal, late]);
    try {
      await session.open(inTime);
      await this.offer(session, inTime);
    } catch (error) {
      if (!late.aborted || signal.aborted) throw session.fault ?? error;
      throw new Error(`it was not ready within ${this.parts.settings.startup_timeout_ms} ms`);
    }
  }

  private async offer(session: McpSession, signal: AbortSignal): Promise<void> {
    await this.tools.update((await session.listTools(signal)).map(definitionOf));
  }

  /**
   * The list of tools is another one. However often that is said, one list is asked for at a time. A list that cannot
   * be had is a connection that cannot be trusted.
   */
  private async refresh(session: McpSession | undefined, signal: AbortSignal): Promise<void> {
    this.isStale = true;
    if (this.isRefreshing || session === undefined) return;
    this.isRefreshing = true;
    try {
      while (this.isStale && this.session === session) {
        this.isStale = false;
        await withLinkedSignal(signal, (linked) => this.offer(session, linked));
      }
    } catch (error) {
      session.giveUp(error instanceof Error ? error : new Error(String(error)));
    } finally {
      this.isRefreshing = false;
    }
  }

  /** Approvals are given elsewhere; they are looked for while something waits for one. */
  private async awaitApprovals(session: McpSession, signal: AbortSignal): Promise<void> {
    while (!signal.aborted && this.session === session) {
      await sleep(QUARANTINE_LOOK_MS, undefined, { signal, ref: false }).catch(() => undefined);
      const { quarantined } = this.tools;
      if (quarantined.length === 0 || this.session !== session) continue;
      const isFree = await this.parts.isAnyFree(quarantined).catch(() => false);
      if (isFree) await this.refresh(session, signal);
    }
  }

  private up(session: McpSession): void {
    this.session = session;
    this.status = 'connected';
    this.connectedAt = new Date();
    this.problem = undefined;
    this.parts.logger.info('connected', { tools: this.tools.tools.length });
    this.parts.onChange(true, undefined);
  }

  private down(status: McpServerStatus, problem: string | undefined): void {
    const was = this.session;
    this.session = undefined;
    this.connectedAt = undefined;
    this.status = status;
    this.problem = problem;
    if (was !== undefined && !this.stopped.signal.aborted) this.parts.onChange(false, problem);
  }

  private complain(wasUp: boolean, why: unknown, lastWords: string | undefined): void {
    const said = lastWords === undefined ? '' : `; it said: ${lastWords}`;
    this.problem = this.parts.redact(failureWords(why) + said).slice(0, MOST_PROBLEM);
    const what = wasUp ? 'the connection was lost' : 'the server could not be connected to';
    this.parts.logger.warn(what, { reason: this.problem, final: this.status === 'disconnected' });
  }

  private words(error: unknown): string {
    return this.parts.redact(failureWords(error));
  }
}

async function pause(ms: number | undefined, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  if (ms !== undefined) return sleep(ms, undefined, { signal }).catch(() => undefined);
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
