import { setTimeout as sleep } from 'node:timers/promises';
import type { OfferedTools } from '../tools/offered-tools.js';
import type { ConnectionState } from './connection-state.js';
import { withLinkedSignal } from './linked-signal.js';
import type { McpSession } from './mcp-session.js';
import type { CurrentTools } from './server-calls.js';

const QUARANTINE_POLL_MS = 1000;
/** A list that was not looked through in time is asked for again after so many such looks. */
const POLLS_UNTIL_RETRY = 30;
/** A server that says over and over that its list changed is asked for it no more often than this. */
const REFRESH_PAUSE_MS = 300;

/** Keeps what the catalogue has of one server as its list of tools is now. */
export class ToolList implements CurrentTools {
  /** How often a change was told, and which of them the catalogue has seen. */
  private announced = 0;
  private seen = 0;
  private refreshing: { readonly session: McpSession; readonly done: Promise<void> } | undefined;

  constructor(
    private readonly offered: OfferedTools,
    private readonly state: ConnectionState,
    private readonly isAnyFree: (tools: readonly string[]) => Promise<boolean>,
  ) {}

  async offer(session: McpSession, signal: AbortSignal, timeoutMs?: number): Promise<void> {
    const { announced } = this;
    await this.offered.update(await session.listTools(signal, timeoutMs), signal);
    this.seen = Math.max(this.seen, announced);
  }

  /**
   * The list of tools is another one: no call goes to the server before it was looked at. However often that is said,
   * one list is asked for at a time. A list that cannot be had is a connection that cannot be trusted.
   */
  async refresh(session: McpSession, signal: AbortSignal): Promise<void> {
    this.announced += 1;
    await this.catchUp(session, signal);
  }

  /** Asks for what changed while the connection was not up yet. Never rejects. */
  async catchUp(session: McpSession, signal: AbortSignal): Promise<void> {
    if (this.refreshing?.session === session) return;
    const done = this.refreshAll(session, signal);
    this.refreshing = { session, done };
    await done;
    this.finish(done);
  }

  async settled(signal: AbortSignal): Promise<void> {
    while (this.isStale && this.state.isUp() && !signal.aborted) {
      // A change that was told a moment ago may have nobody yet who asks for it.
      const refreshed = this.refreshing?.done ?? sleep(1);
      await withLinkedSignal(signal, (linked) => Promise.race([refreshed, aborted(linked)]));
    }
    signal.throwIfAborted();
  }

  isOffered(tool: string): boolean {
    return this.offered.has(tool);
  }

  /** Approvals are given elsewhere; they are looked for while something waits for one. Never rejects. */
  async awaitApprovals(session: McpSession, signal: AbortSignal): Promise<void> {
    for (let looks = 1; !signal.aborted && this.state.session === session; looks += 1) {
      await sleep(QUARANTINE_POLL_MS, undefined, { signal, ref: false }).catch(() => undefined);
      if (this.state.session !== session) continue;
      const isRetried = this.offered.isIncomplete && looks % POLLS_UNTIL_RETRY === 0;
      if (isRetried || (await this.isAnyFreeNow())) await this.refresh(session, signal);
    }
  }

  private finish(done: Promise<void>): void {
    if (this.refreshing?.done === done) this.refreshing = undefined;
  }

  private get isStale(): boolean {
    return this.seen < this.announced;
  }

  private async refreshAll(session: McpSession, signal: AbortSignal): Promise<void> {
    try {
      for (let isFirst = true; this.isStale && this.state.session === session; isFirst = false) {
        if (!isFirst) await sleep(REFRESH_PAUSE_MS, undefined, { signal, ref: false });
        await withLinkedSignal(signal, (linked) => this.offer(session, linked));
      }
    } catch (error) {
      session.giveUp(error instanceof Error ? error : new Error(String(error)));
    }
  }

  private async isAnyFreeNow(): Promise<boolean> {
    const { quarantined } = this.offered;
    return quarantined.length > 0 && this.isAnyFree(quarantined).catch(() => false);
  }
}

/** Resolves when the signal is aborted. */
function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
