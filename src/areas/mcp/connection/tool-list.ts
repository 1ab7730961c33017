import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseAway } from '../../../platform/database/database-failure.js';
import type { OfferedTools } from '../tools/offered-tools.js';
import type { ToolListing } from '../tools/tool-listing.js';
import type { ConnectionState } from './connection-state.js';
import { withLinkedSignal } from './linked-signal.js';
import type { McpSession } from './mcp-session.js';
import type { CurrentTools } from './server-calls.js';

const QUARANTINE_POLL_MS = 1000;
/** An incomplete list is requested again after this many such checks. */
const POLLS_UNTIL_RETRY = 30;
/** However often a server announces changes, its list is requested no more often than this. */
const REFRESH_PAUSE_MS = 300;
/** How often the database is asked again that could not say which tools are approved. */
const DATABASE_POLL_MS = 200;

/** Keeps the catalogue in step with the list of tools of one server. */
export class ToolList implements CurrentTools {
  /** How many changes were announced, and how many of them the catalogue has processed. */
  private announced = 0;
  private seen = 0;
  private taking = 0;
  private refreshing: { readonly session: McpSession; readonly done: Promise<void> } | undefined;

  constructor(
    private readonly offered: OfferedTools,
    private readonly state: ConnectionState,
    private readonly isAnyReleased: (tools: readonly string[]) => Promise<boolean>,
  ) {}

  /** Whether a list has come, and the catalogue does not match it yet. */
  get isTaking(): boolean {
    return this.taking > 0;
  }

  /** @param ask requests the list; what the gateway then does with it is not the server's time */
  async offer(
    session: McpSession,
    signal: AbortSignal,
    ask = (): Promise<ToolListing> => session.listTools(signal),
  ): Promise<void> {
    const { announced } = this;
    const listing = await ask();
    this.taking += 1;
    try {
      await this.take(listing, session, signal);
    } finally {
      this.taking -= 1;
    }
    this.seen = Math.max(this.seen, announced);
  }

  /** While the gateway's own database is away the connection to the server lasts. */
  private async take(listing: ToolListing, session: McpSession, signal: AbortSignal): Promise<void> {
    for (let isFirst = true; ; isFirst = false) {
      try {
        return await this.offered.update(listing, signal);
      } catch (error) {
        if (!(error instanceof DatabaseAway)) throw error;
        if (isFirst) this.state.awaitsDatabase(error);
      }
      await sleep(DATABASE_POLL_MS, undefined, { signal, ref: false });
      if (session.fault !== undefined) throw session.fault;
    }
  }

  /**
   * Handles the announcement of a new list: until it is processed, `settled` holds back calls. One list is requested at a
   * time, however many announcements arrive. When the list cannot be fetched, the session is given up. Never rejects.
   */
  async refresh(session: McpSession, signal: AbortSignal): Promise<void> {
    this.announced += 1;
    await this.catchUp(session, signal);
  }

  /** Processes what was announced before the connection was up. Never rejects. */
  async catchUp(session: McpSession, signal: AbortSignal): Promise<void> {
    if (this.refreshing?.session === session) return;
    const done = this.refreshAll(session, signal);
    this.refreshing = { session, done };
    await done;
    this.finish(done);
  }

  async settled(signal: AbortSignal): Promise<void> {
    while (this.isStale && this.state.isUp() && !signal.aborted) {
      // For a change announced this instant, the refresh may not have started yet.
      const refreshed = this.refreshing?.done ?? sleep(1);
      await withLinkedSignal(signal, (linked) => Promise.race([refreshed, aborted(linked)]));
    }
    signal.throwIfAborted();
  }

  isOffered(tool: string): boolean {
    return this.offered.has(tool);
  }

  /** Polls for approvals, which are given elsewhere, while a tool waits for one. Never rejects. */
  async awaitApprovals(session: McpSession, signal: AbortSignal): Promise<void> {
    for (let polls = 1; !signal.aborted && this.state.session === session; polls += 1) {
      await sleep(QUARANTINE_POLL_MS, undefined, { signal, ref: false }).catch(() => undefined);
      if (this.state.session !== session) continue;
      const isRetried = this.offered.isIncomplete && polls % POLLS_UNTIL_RETRY === 0;
      if (isRetried || (await this.isAnyReleasedNow())) await this.refresh(session, signal);
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

  private async isAnyReleasedNow(): Promise<boolean> {
    const { quarantined } = this.offered;
    return quarantined.length > 0 && this.isAnyReleased(quarantined).catch(() => false);
  }
}

/** Resolves when the signal is aborted. */
function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
