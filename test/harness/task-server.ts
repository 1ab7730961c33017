import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type CreateTaskOptions,
  InMemoryTaskMessageQueue,
  InMemoryTaskStore,
} from '@modelcontextprotocol/sdk/experimental/tasks';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import {
  type ElicitRequest,
  ElicitResultSchema,
  type Request,
  type Task,
} from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';

/** A call that the server runs as a task. */
interface RunningTask {
  readonly id: string;
  readonly askedTtl: number | null | undefined;
  /** Asks the client, in the response to its request for the result. */
  ask(params: object): Promise<unknown>;
}

/** The library's own store, shared by all sessions unless a test wants them separate. */
class CommonStore extends InMemoryTaskStore {
  constructor(private readonly bindsToSession: boolean) {
    super();
  }

  override createTask(
    options: CreateTaskOptions,
    requestId: string | number,
    request: Request,
    session?: string,
  ) {
    return super.createTask(options, requestId, request, this.of(session));
  }

  override getTask(id: string, session?: string): Promise<Task | null> {
    return super.getTask(id, this.of(session));
  }

  override getTaskResult(id: string, session?: string) {
    return super.getTaskResult(id, this.of(session));
  }

  private of(session: string | undefined): string | undefined {
    return this.bindsToSession ? session : undefined;
  }
}

/** Where a test wants the server to differ from the library. */
export interface TaskServerOptions {
  /** Whether a task belongs to the session that created it, as in the library's own store. */
  readonly bindsToSession?: boolean;
  /** In milliseconds. */
  readonly pollInterval?: number;
}

/**
 * A tool server over HTTP, on the library of the protocol's authors (1.x, which supports tasks): `work` runs only as
 * a task, `choose` either as a task or directly. The test decides the result of a task, by the key in its call. The
 * server outlives every gateway.
 */
export class TaskServer {
  /** Keys of all tool calls, in order. */
  readonly calls: string[] = [];
  /** Methods of all requests, each with the task it names. */
  readonly requests: { readonly method: string; readonly task: string | undefined; readonly at: number }[] =
    [];
  /** Answers a request instead of the library; undefined leaves it to the library. */
  instead: (method: string) => { readonly status: number; readonly body: string } | undefined = () =>
    undefined;
  private readonly tasks = new Map<string, RunningTask>();
  private readonly sessions = new Map<string, StreamableHTTPServerTransport>();
  private readonly store: CommonStore;
  private readonly queue = new InMemoryTaskMessageQueue();
  private readonly http = createServer((request, response) => void this.answer(request, response));
  private port = 0;

  private constructor(private readonly options: TaskServerOptions) {
    this.store = new CommonStore(options.bindsToSession === true);
  }

  static async start(options: TaskServerOptions = {}): Promise<TaskServer> {
    const server = new TaskServer(options);
    await server.listen();
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/mcp`;
  }

  /** Resolves when the call with this key runs. */
  async task(key: string): Promise<RunningTask> {
    for (let waited = 0; waited < 20_000; waited += 20) {
      const task = this.tasks.get(key);
      if (task !== undefined) return task;
      await sleep(20);
    }
    throw new Error(`There is no task for "${key}".`);
  }

  count(method: string, id?: string): number {
    return this.requests.filter((one) => one.method === method && (id === undefined || one.task === id))
      .length;
  }

  async finish(key: string, text: string, isError = false): Promise<void> {
    const { id } = await this.task(key);
    const content = [{ type: 'text' as const, text }];
    await this.store.storeTaskResult(id, isError ? 'failed' : 'completed', { content, isError });
  }

  async say(key: string, message: string, status: Task['status'] = 'working'): Promise<void> {
    await this.store.updateTaskStatus((await this.task(key)).id, status, message);
  }

  async statusOf(key: string): Promise<string | undefined> {
    return (await this.store.getTask((await this.task(key)).id))?.status;
  }

  /** As if the task had expired, or the server had restarted without it. */
  async forget(key: string): Promise<void> {
    const { id } = await this.task(key);
    (this.store as unknown as { tasks: Map<string, unknown> }).tasks.delete(id);
  }

  /** Forgets all sessions of its clients. */
  forgetSessions(): void {
    this.sessions.clear();
  }

  /** Stops listening until `listen`. */
  async hangUp(): Promise<void> {
    this.http.closeAllConnections();
    await new Promise((resolve) => this.http.close(resolve));
    this.sessions.clear();
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.http.listen(this.port, '127.0.0.1', resolve));
    this.port = (this.http.address() as AddressInfo).port;
  }

  async stop(): Promise<void> {
    this.store.cleanup();
    if (this.http.listening) await this.hangUp();
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const body = (text === '' ? {} : JSON.parse(text)) as {
      id?: number;
      method?: string;
      params?: { taskId?: string };
    };
    const { method = '' } = body;
    if (method !== '') this.requests.push({ method, task: body.params?.taskId, at: performance.now() });
    const given = this.instead(method);
    if (given !== undefined) {
      response.writeHead(given.status, { 'content-type': 'application/json' });
      return void response.end(given.body.replace('$id', String(body.id)));
    }
    const known = this.sessions.get(String(request.headers['mcp-session-id']));
    if (known === undefined && method !== 'initialize') {
      response.writeHead(404, { 'content-type': 'application/json' });
      const error = { code: -32001, message: 'Session not found' };
      return void response.end(JSON.stringify({ jsonrpc: '2.0', error, id: null }));
    }
    const transport = known ?? (await this.opened());
    await transport.handleRequest(request, response, text === '' ? undefined : body);
  }

  private async opened(): Promise<StreamableHTTPServerTransport> {
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => void this.sessions.set(id, transport),
    });
    await this.server().connect(transport);
    return transport;
  }

  private server(): McpServer {
    const requests = { tools: { call: {} } };
    const server = new McpServer(
      { name: 'tasks', version: '1' },
      {
        capabilities: { tools: {}, tasks: { cancel: {}, list: {}, requests } },
        taskStore: this.store,
        taskMessageQueue: this.queue,
      },
    );
    const inputSchema = { key: z.string() };
    for (const [name, taskSupport] of [
      ['work', 'required'],
      ['choose', 'optional'],
    ] as const) {
      server.experimental.tasks.registerToolTask(
        name,
        { description: 'Works.', inputSchema, execution: { taskSupport } },
        {
          createTask: async ({ key }, extra) => {
            this.calls.push(key);
            const { pollInterval = 300 } = this.options;
            const ttl = extra.taskRequestedTtl ?? null;
            const task = await extra.taskStore.createTask({ ttl, pollInterval });
            const relatedTask = { taskId: task.taskId };
            const ask = (params: object): Promise<unknown> =>
              extra.sendRequest(
                { method: 'elicitation/create', params } as ElicitRequest,
                ElicitResultSchema,
                // The library's types leave out what is needed here.
                { relatedTask } as object,
              );
            this.tasks.set(key, { id: task.taskId, askedTtl: extra.taskRequestedTtl, ask });
            return { task };
          },
          getTask: (_args, extra) => extra.taskStore.getTask(extra.taskId),
          getTaskResult: async (_args, extra) =>
            (await extra.taskStore.getTaskResult(extra.taskId)) as { content: [] },
        },
      );
    }
    server.registerTool('plain', { description: 'Answers at once.', inputSchema }, ({ key }) => {
      this.calls.push(key);
      return { content: [{ type: 'text', text: 'plainly' }] };
    });
    return server;
  }
}
