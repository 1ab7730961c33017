import { randomUUID } from 'node:crypto';
import type { CallToolResult, Client, Progress, Transport } from '@modelcontextprotocol/client';
import { z } from 'zod';
import type { McpServerSettings } from '../../../platform/settings/sections/mcp.section.js';
import type { CallTask } from '../../tools/tools.api.js';
import type { CallContext } from './call-origin.js';
import {
  isAnswer,
  isSessionGone,
  McpToolFailed,
  TASK_OF_CHILD_LOST,
  TaskSessionLost,
} from './mcp-failure.js';
import type { OpenCall } from './open-calls.js';
import { ServerTask } from './server-task.js';

/** What the tasks of a session depend on. */
export interface SessionTaskParts {
  readonly client: Client;
  readonly transport: Transport;
  readonly server: Pick<McpServerSettings, 'transport'>;
  /** For a connection that does not list tools itself: the names of the connection that does. */
  asTasks(): ReadonlySet<string> | undefined;
  /**
   * Creates a transport that resumes an earlier session at the server, which may be over; undefined where that is
   * impossible.
   */
  reopen(session: string): Transport | undefined;
  /** A client that answers the server's requests during a call. */
  newClient(): Client;
  onAnswer(): void;
  onProgress(progress: Progress, context: CallContext | undefined): void;
}

/** The calls that the server of a session runs as tasks (protocol 2025-11-25). */
export class SessionTasks {
  private listed: ReadonlySet<string> = new Set();
  private readonly progress = new TaskProgress();

  constructor(private readonly parts: SessionTaskParts) {}

  /** Reads every message of the server. */
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
   * Makes the call, or asks for the task that has run it since an earlier connection. Throws `McpToolFailed` and the
   * client library's errors.
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
      const early = await this.inItsSession(kept, signal, (its) =>
        new ServerTask(its, terms).follow(kept.id),
      );
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

  /**
   * Asks in the session that created the task, because servers may know it only there. Resolves with undefined when
   * there is no such session, or no longer. Throws `TaskSessionLost` for any other failure of that connection: it says
   * nothing about ours.
   */
  private async inItsSession(
    { session }: CallTask,
    signal: AbortSignal,
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
      if (signal.aborted || error instanceof McpToolFailed || isAnswer(error)) throw error;
      throw new TaskSessionLost(error);
    } finally {
      await client.close().catch(() => undefined);
    }
  }
}

const NOTED = z.object({
  method: z.literal('notifications/progress'),
  params: z.looseObject({
    progressToken: z.string(),
    progress: z.number(),
    total: z.number().optional(),
    message: z.string().optional(),
  }),
});

/**
 * Progress of calls that run as tasks. The client library forgets which call a progress token belongs to once it has
 * the task's id.
 */
class TaskProgress {
  private readonly listeners = new Map<string, (progress: Progress) => void>();

  /** @param work gets the token under which the server reports progress of this call */
  async during<Result>(
    listener: (progress: Progress) => void,
    work: (token: string) => Promise<Result>,
  ): Promise<Result> {
    const token = randomUUID();
    this.listeners.set(token, listener);
    try {
      return await work(token);
    } finally {
      this.listeners.delete(token);
    }
  }

  /** Reads every message of the server. */
  note(message: unknown): void {
    if (this.listeners.size === 0 || (message as { method?: unknown }).method !== NOTED.shape.method.value)
      return;
    const noted = NOTED.safeParse(message);
    if (!noted.success) return;
    const { progressToken, progress, total, message: text } = noted.data.params;
    const said = { progress, ...(total === undefined ? {} : { total }) };
    this.listeners.get(progressToken)?.(text === undefined ? said : { ...said, message: text });
  }
}
