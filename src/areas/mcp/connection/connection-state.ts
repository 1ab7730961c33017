import type { Transport } from '@modelcontextprotocol/client';
import type { Logger } from '../../../platform/logging/logger.js';
import type { McpServerSettings } from '../../../platform/settings/sections/mcp.section.js';
import type { ArgumentChecks } from '../../tools/tools.api.js';
import type { McpServerStatus } from '../mcp-server.js';
import type { OfferedTools, RunTool } from '../tools/offered-tools.js';
import type { CallOrigin } from './call-origin.js';
import { failureText, isFinal, toldFailure } from './mcp-failure.js';
import type { McpSession } from './mcp-session.js';
import type { UserConnectionNotes } from './user-connection-metrics.js';

/** The part of a connection that the tools it offers call. */
export interface Callable {
  readonly call: RunTool;
  isUp(): boolean;
}

/** Everything that the connection of one server depends on. */
export interface ConnectionParts {
  readonly name: string;
  readonly settings: McpServerSettings;
  readonly logger: Logger;
  readonly checks: ArgumentChecks;
  /** What operators must know about this server even though it works: that it runs without a sandbox. */
  readonly warning: string | undefined;
  /**
   * For requests outside of calls it acts for `origin`; it may resume a `session` at the server. Throws when the
   * settings are incomplete.
   */
  readonly makeTransport: (origin: CallOrigin, session?: string) => Transport;
  /** Creates what the server has in the catalogue, for this connection. */
  offered(connection: Callable): OfferedTools;
  isAnyReleased(tools: readonly string[]): Promise<boolean>;
  /** Called at every change between connected and not. `error` is redacted. */
  onChange(connected: boolean, error: string | undefined): void;
  readonly redact: (text: string) => string;
  /** Redacts known secrets only: a server's response may hold them, but text that merely looks like one may be a user's file. */
  hideKnown(text: string): string;
  /** How long a question of a tool waits for a person, in milliseconds. */
  questionTimeoutMs(): number;
  readonly metrics: UserConnectionNotes;
}

const MAX_PROBLEM = 500;

/** The state of the connection to one server: its session, or why there is none. */
export class ConnectionState {
  private current: McpSession | undefined;
  private upSince: Date | undefined;
  private currentStatus: McpServerStatus = 'reconnecting';
  private currentProblem: string | undefined;
  private isLeaving = false;

  constructor(private readonly parts: ConnectionParts) {}

  get session(): McpSession | undefined {
    return this.current;
  }

  get status(): McpServerStatus {
    return this.currentStatus;
  }

  get connectedAt(): Date | undefined {
    return this.upSince;
  }

  /** Why the last attempt failed, redacted; undefined while connected or before an attempt has failed. */
  get problem(): string | undefined {
    return this.currentProblem;
  }

  isUp(): boolean {
    // The session is the first to know that it is lost.
    return this.current !== undefined && this.current.fault === undefined;
  }

  /** Stops announcing changes, because this end was requested. */
  leave(): void {
    this.isLeaving = true;
  }

  /** The tools of its list cannot be compared with those that are approved; a connection that is up stays up with those before. */
  awaitsDatabase(why: Error): void {
    const reason = failureText(why, this.parts.redact);
    if (this.current === undefined)
      this.currentProblem = `its tools cannot be compared with those that are approved: ${reason}`;
    this.parts.logger.warn('the list of tools waits for the database', { reason });
  }

  up(session: McpSession, tools: number): void {
    this.current = session;
    this.currentStatus = 'connected';
    this.upSince = new Date();
    this.currentProblem = undefined;
    this.parts.logger.info('connected', { tools });
    this.parts.onChange(true, undefined);
  }

  down(status: 'reconnecting' | 'disconnected', problem?: string): void {
    const was = this.current;
    this.current = undefined;
    this.upSince = undefined;
    this.currentStatus = status;
    this.currentProblem = problem;
    if (was !== undefined && !this.isLeaving) this.parts.onChange(false, problem);
  }

  /** Records that it ended by itself, so that status is right while the old connection is still closing. */
  lost(why: unknown): void {
    this.down(
      isFinal(why, this.parts.settings) ? 'disconnected' : 'reconnecting',
      toldFailure(why, this.parts.redact),
    );
  }

  /** Logs why the connection ended or could not be made, with the last error output of the server. */
  logEnd(wasUp: boolean, why: unknown, recentOutput: string | undefined): void {
    const output = recentOutput === undefined ? '' : `; its last output: ${recentOutput}`;
    const shown = (text: string): string => this.parts.redact(text + output).slice(0, MAX_PROBLEM);
    this.currentProblem = shown(toldFailure(why, this.parts.redact));
    const what = wasUp ? 'the connection was lost' : 'the server could not be connected to';
    this.parts.logger.warn(what, {
      reason: shown(failureText(why, this.parts.redact)),
      final: this.currentStatus === 'disconnected',
    });
  }
}
