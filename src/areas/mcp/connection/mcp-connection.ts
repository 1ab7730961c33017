import { isAmong } from '../../../common/text/name-pattern.js';
import { type AttemptEnd, Supervisor } from '../../../platform/runtime/supervisor.js';
import type { McpServerSettings } from '../../../platform/settings/sections/mcp.section.js';
import type { McpServer } from '../mcp-server.js';
import { PromptList } from '../prompts/prompt-list.js';
import { PROMPT_TOOL, type ServerPrompt } from '../prompts/server-prompt.js';
import type { OfferedTools, RunTool } from '../tools/offered-tools.js';
import type { ToolListing } from '../tools/tool-listing.js';
import { OWN_ORIGIN } from './call-origin.js';
import { type Callable, type ConnectionParts, ConnectionState } from './connection-state.js';
import { isFinal, isTimeout, McpServerDown } from './mcp-failure.js';
import { McpSession } from './mcp-session.js';
import { ServerCalls } from './server-calls.js';
import { StartTimeout } from './start-timeout.js';
import { ToolList } from './tool-list.js';
import { type UserConnectionCounts, UserConnections } from './user-connections.js';

const FIRST_BACK_OFF_MS = 500;

/**
 * Supervises one server for as long as it is configured: connects, offers its tools, checks its health, and reconnects with
 * back-off. There is one connection at a time: the next starts when the last is completely closed (docs/mcp.md,
 * Supervision).
 */
export class McpConnection implements Callable {
  readonly call: RunTool;
  private readonly state: ConnectionState;
  private readonly tools: OfferedTools;
  private readonly list: ToolList;
  private readonly promptList: PromptList;
  private readonly startTimeout: StartTimeout;
  private readonly supervisor = new Supervisor({
    firstPauseMs: FIRST_BACK_OFF_MS,
    attempt: (signal) => this.live(signal),
    isFinal: (why) => isFinal(why, this.settings),
  });
  /** Undefined for a server whose callers share this connection. */
  private readonly users: UserConnections | undefined;

  constructor(private readonly parts: ConnectionParts) {
    this.state = new ConnectionState(parts);
    this.tools = parts.offered(this);
    this.list = new ToolList(this.tools, this.state, (tools) => parts.isAnyReleased(tools));
    this.promptList = new PromptList(parts.name, parts.logger, (text) => parts.redact(text));
    this.startTimeout = new StartTimeout(parts.name, parts.settings.startup_timeout_ms);
    this.users = parts.settings.isolation === 'shared' ? undefined : this.usersOf(parts);
    this.call = (this.users ?? new ServerCalls(parts, this.state, this.list)).call;
  }

  get settings(): McpServerSettings {
    return this.parts.settings;
  }

  /** Whether it is not connected after a failed attempt. */
  get isFailing(): boolean {
    return this.state.status !== 'connected' && this.state.problem !== undefined;
  }

  /** Whether it is not connected yet only because the gateway has still to compare its tools with those that are approved. */
  get isTakingTools(): boolean {
    return !this.isUp() && this.list.isTaking;
  }

  describe(): McpServer {
    const { status, connectedAt, problem } = this.state;
    return {
      name: this.parts.name,
      transport: this.settings.transport,
      status,
      tools: this.isUp() ? this.tools.tools : [],
      prompts: this.isUp() ? this.knownPrompts : [],
      connectedAt,
      error: problem,
      warning: [this.parts.warning, this.promptProblem].filter(Boolean).join(' ') || undefined,
    };
  }

  /** The prompts that people may ask for while it is connected; none when the settings switch prompts off. */
  get knownPrompts(): readonly ServerPrompt[] {
    return hasPrompts(this.settings) ? this.promptList.prompts : [];
  }

  private get promptProblem(): string | undefined {
    return this.isUp() && hasPrompts(this.settings) ? this.promptList.problem : undefined;
  }

  isUp(): boolean {
    return this.state.isUp();
  }

  /** The connections of users to this server. */
  get userConnections(): UserConnectionCounts {
    return this.users?.counts ?? { busy: 0, idle: 0 };
  }

  start(): void {
    this.supervisor.start();
  }

  /** Resolves when the connection is closed and its tools are withdrawn. */
  async stop(): Promise<void> {
    this.state.leave();
    const isDown = this.supervisor.stop().then(() => this.state.down('disconnected'));
    await Promise.all([isDown, this.users?.stop()]);
    this.tools.withdrawAll();
  }

  /** Ends the connections of a user; resolves when their children are gone. */
  async closeUser(isTheirs: (user: string) => boolean): Promise<void> {
    await this.users?.closeOf(isTheirs);
  }

  /** Drops the connection and starts over; the status changes at once. */
  reconnect(): void {
    this.state.down('reconnecting');
    this.users?.closeAll();
    this.supervisor.restart();
  }

  /**
   * Users call the tools that this connection lists; when a user's connection hears of a change first, this connection
   * looks at the list too.
   */
  private usersOf(parts: ConnectionParts): UserConnections {
    const { state, list } = this;
    return new UserConnections(parts, {
      settled: (signal) => list.settled(signal),
      fingerprintOf: (tool) => this.tools.fingerprintOf(tool),
      sessionParts: {
        checks: parts.checks,
        requests: parts,
        outputs: () => state.session?.outputChecks,
        headedTools: () => state.session?.headedTools,
        hasResourceTools: () => state.session?.hasResourceTools,
        asTasks: () => state.session?.taskTools,
        onToolsChanged: () => {
          const { session } = state;
          if (session !== undefined) void list.refresh(session, this.supervisor.signal);
        },
      },
      assertUp: () => {
        if (!state.isUp()) throw new McpServerDown(parts.name);
      },
    });
  }

  /** Runs one connection from start to end. @returns why it ended, and how long it was up, in milliseconds */
  private async live(signal: AbortSignal): Promise<AttemptEnd> {
    let session: McpSession | undefined;
    let upAt: number | undefined;
    let why: unknown;
    try {
      session = this.newSession(signal);
      await this.open(session, signal);
      upAt = performance.now();
      this.state.up(session, this.tools.tools.length);
      void this.list.catchUp(session, signal);
      if (hasPrompts(this.settings)) void this.promptList.refresh(session, signal);
      void this.list.awaitApprovals(session, signal);
      why = await session.watch(signal);
    } catch (error) {
      why = error;
    }
    // The status is right from here on, however long the old connection takes to close.
    if (!signal.aborted) this.state.lost(why);
    await session?.close();
    if (!signal.aborted) this.state.logEnd(upAt !== undefined, why, session?.recentOutput);
    return { why, lastedMs: upAt === undefined ? 0 : performance.now() - upAt };
  }

  private newSession(signal: AbortSignal): McpSession {
    const session: McpSession = new McpSession(this.parts.makeTransport(OWN_ORIGIN), this.settings, {
      checks: this.parts.checks,
      requests: this.parts,
      reopen: (earlier) => this.parts.makeTransport(OWN_ORIGIN, earlier),
      onToolsChanged: () => void this.list.refresh(session, signal),
      onPromptsChanged: () => {
        if (hasPrompts(this.settings)) void this.promptList.refresh(session, signal);
      },
    });
    return session;
  }

  private open(session: McpSession, signal: AbortSignal): Promise<void> {
    return this.list.offer(session, signal, () => this.listedInTime(session, signal));
  }

  private async listedInTime(session: McpSession, signal: AbortSignal): Promise<ToolListing> {
    const { limitMs } = this.startTimeout;
    const late = AbortSignal.timeout(limitMs);
    const inTime = AbortSignal.any([signal, late]);
    try {
      await session.open(inTime, limitMs);
      const listing = await session.listTools(inTime, limitMs);
      this.startTimeout.wasReady();
      return listing;
    } catch (error) {
      const isLate = late.aborted || isTimeout(error);
      if (!isLate || signal.aborted) throw session.fault ?? error;
      throw this.startTimeout.wasLate();
    }
  }
}

/** Prompts obey the same rules as the server's tools, under a name of their own. */
function hasPrompts({ prompts, allow_tools: allow, deny_tools: deny }: McpServerSettings): boolean {
  return prompts && isAmong(PROMPT_TOOL, allow) && !isAmong(PROMPT_TOOL, deny);
}
