import type { CallToolResult, Client, Progress, Transport } from '@modelcontextprotocol/client';
import type { McpServerSettings } from '../../../platform/settings/sections/mcp.section.js';
import type { CallTask } from '../../tools/tools.api.js';
import type { CallContext } from './call-origin.js';
import { isSessionGone, McpToolFailed, TASK_OF_CHILD_LOST } from './mcp-failure.js';
import type { OpenCall } from './open-calls.js';
import { ServerTask } from './server-task.js';
import { TaskProgress } from './task-progress.js';

/** What the tasks of a session depend on. */
export interface SessionTaskParts {
  readonly client: Client;
  readonly transport: Transport;
  readonly server: Pick<McpServerSettings, 'transport'>;
  /** The names of a connection that lists the tools, for one that does not. */
  asTasks(): ReadonlySet<string> | undefined;
  /** Creates a transport that goes on in an earlier session at the server, which may be over; undefined where none can. */
  reopen(session: string): Transport | undefined;
  /** A client that answers what the server asks during a call. */
  newClient(): Client;
  onAnswer(): void;
  onProgress(progress: Progress, context: CallContext | undefined): void;
}

/** The calls that the server of a session runs as tasks (protocol 2025-11-25). */
export class SessionTasks {
  private listed: ReadonlySet<string> = new Set();
  private readonly progress = new TaskProgress();

  constructor(private readonly parts: SessionTaskParts) {}

  /** Looks at every message of the server. */
  note(message: unknown): void {
    this.progress.note(message);
  }

  /** Whether the server runs calls as tasks; the protocol of 2026-07-28 has none. */
  get areRun(): boolean {
    const { client } = this.parts;
    const { tasks } = client.getServerCapabilities() ?? {};
    return tasks?.requests?.tools?.call !== undefined && client.getProtocolEra() !== 'modern';
  }

  /** The tools of the last list that are called as tasks. */
  get tools(): ReadonlySet<string> {
    return this.listed;
  }

  set tools(names: ReadonlySet<string>) {
    this.listed = names;
  }

  /** Whether this call is made as a task, or was. */
  includes(tool: string, context: CallContext | undefined): boolean {
    if (context?.call?.task !== undefined) return true;
    return this.areRun && (this.parts.asTasks() ?? this.listed).has(tool);
  }

  /**
   * Makes the call, or asks for the task that it runs as since an earlier connection. Throws `McpToolFailed` and the client
   * library's errors.
   * @param parent what ends the call from outside
   */
  async run(
    params: {
      readonly name: string;
      readonly arguments: Readonly<Record<string, unknown>>;
      readonly _meta?: Record<string, unknown>;
    },
    { context, silence, signal }: OpenCall,
    parent: AbortSignal,
  ): Promise<CallToolResult> {
    const { client, transport, server } = this.parts;
    const onAnswer = (): void => this.parts.onAnswer();
    const call = context?.call;
    const kept = call?.task;
    if (kept !== undefined && server.transport === 'stdio') throw new McpToolFailed(TASK_OF_CHILD_LOST);
    let told = 0;
    const terms = {
      ...{ call, silence, signal, parent, onAnswer, session: transport.sessionId },
      canCancel: client.getServerCapabilities()?.tasks?.cancel !== undefined,
      onStatus: (message: string) => {
        told += 1;
        this.parts.onProgress({ progress: told, message }, context);
      },
    };
    if (kept !== undefined) {
      const early = await this.inItsSession(kept, (its) => new ServerTask(its, terms).follow(kept.id));
      return early ?? new ServerTask(client, terms).follow(kept.id);
    }
    const onNote = (progress: Progress): void => {
      onAnswer();
      silence.restart();
      this.parts.onProgress(progress, context);
    };
    return this.progress.during(onNote, (progressToken) =>
      new ServerTask(client, terms).run({ ...params, _meta: { ...params._meta, progressToken } }),
    );
  }

  /** Servers may keep a task for the session that made it. Resolves with undefined when there is none, or none any more. */
  private async inItsSession(
    { session }: CallTask,
    follow: (client: Client) => Promise<CallToolResult>,
  ): Promise<CallToolResult | undefined> {
    if (session === undefined || session === this.parts.transport.sessionId) return undefined;
    const transport = this.parts.reopen(session);
    if (transport === undefined) return undefined;
    const client = this.parts.newClient();
    try {
      await client.connect(transport);
      return await follow(client);
    } catch (error) {
      if (isSessionGone(error)) return undefined;
      throw error;
    } finally {
      await client.close().catch(() => undefined);
    }
  }
}
