import { setTimeout as sleep } from 'node:timers/promises';
import type { OfferedTools } from '../tools/offered-tools.js';
import { definitionOf } from '../tools/tool-definition.js';
import type { ConnectionState } from './connection-state.js';
import { withLinkedSignal } from './linked-signal.js';
import type { McpSession } from './mcp-session.js';

const QUARANTINE_LOOK_MS = 1000;

/** Keeps what the catalogue has of one server as its list of tools is now. */
export class ToolList {
  private isStale = false;
  private refreshing: McpSession | undefined;

  constructor(
    private readonly offered: OfferedTools,
    private readonly state: ConnectionState,
    private readonly isAnyFree: (tools: readonly string[]) => Promise<boolean>,
  ) {}

  async offer(session: McpSession, signal: AbortSignal): Promise<void> {
    this.isStale = false;
    await this.offered.update((await session.listTools(signal)).map(definitionOf));
  }

  /**
   * The list of tools is another one. However often that is said, one list is asked for at a time. A list that cannot
   * be had is a connection that cannot be trusted.
   */
  async refresh(session: McpSession, signal: AbortSignal): Promise<void> {
    this.isStale = true;
    await this.catchUp(session, signal);
  }

  /** Asks for what changed while the connection was not up yet. Never rejects. */
  async catchUp(session: McpSession, signal: AbortSignal): Promise<void> {
    if (this.refreshing === session) return;
    this.refreshing = session;
    try {
      while (this.isStale && this.state.session === session)
        await withLinkedSignal(signal, (linked) => this.offer(session, linked));
    } catch (error) {
      session.giveUp(error instanceof Error ? error : new Error(String(error)));
    } finally {
      if (this.refreshing === session) this.refreshing = undefined;
    }
  }

  /** Approvals are given elsewhere; they are looked for while something waits for one. Never rejects. */
  async awaitApprovals(session: McpSession, signal: AbortSignal): Promise<void> {
    while (!signal.aborted && this.state.session === session) {
      await sleep(QUARANTINE_LOOK_MS, undefined, { signal, ref: false }).catch(() => undefined);
      const { quarantined } = this.offered;
      if (quarantined.length === 0 || this.state.session !== session) continue;
      if (await this.isAnyFree(quarantined).catch(() => false)) await this.refresh(session, signal);
    }
  }
}
