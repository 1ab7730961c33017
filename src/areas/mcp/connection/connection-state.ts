import type { McpServerStatus } from '../mcp-server.js';
import type { ConnectionParts } from './connection-parts.js';
import { failureText, isFinal } from './mcp-failure.js';
import type { McpSession } from './mcp-session.js';

const MAX_PROBLEM = 500;

/** What is so at this moment between the gateway and one server: the session, or why there is none. */
export class ConnectionState {
  private current: McpSession | undefined;
  private since: Date | undefined;
  private now: McpServerStatus = 'reconnecting';
  private why: string | undefined;
  private isLeft = false;

  constructor(private readonly parts: ConnectionParts) {}

  get session(): McpSession | undefined {
    return this.current;
  }

  get status(): McpServerStatus {
    return this.now;
  }

  get connectedAt(): Date | undefined {
    return this.since;
  }

  /** Why it is not connected, when that was tried; redacted. */
  get problem(): string | undefined {
    return this.why;
  }

  isUp(): boolean {
    // The session knows first that it is lost.
    return this.current !== undefined && this.current.fault === undefined;
  }

  /** From here on nobody is told of changes: this end was wanted. */
  leave(): void {
    this.isLeft = true;
  }

  up(session: McpSession, tools: number): void {
    this.current = session;
    this.now = 'connected';
    this.since = new Date();
    this.why = undefined;
    this.parts.logger.info('connected', { tools });
    this.parts.onChange(true, undefined);
  }

  down(status: 'reconnecting' | 'disconnected', problem?: string): void {
    const was = this.current;
    this.current = undefined;
    this.since = undefined;
    this.now = status;
    this.why = problem;
    if (was !== undefined && !this.isLeft) this.parts.onChange(false, problem);
  }

  /** It ended by itself: whoever asks is told the truth before the old connection is taken down. */
  lost(why: unknown): void {
    this.down(isFinal(why) ? 'disconnected' : 'reconnecting', this.parts.redact(failureText(why)));
  }

  /** Says in the log what went wrong, with what the server said last. */
  complain(wasUp: boolean, why: unknown, recentOutput: string | undefined): void {
    const said = recentOutput === undefined ? '' : `; it said: ${recentOutput}`;
    this.why = this.parts.redact(failureText(why) + said).slice(0, MAX_PROBLEM);
    const what = wasUp ? 'the connection was lost' : 'the server could not be connected to';
    this.parts.logger.warn(what, { reason: this.why, final: this.now === 'disconnected' });
  }
}
