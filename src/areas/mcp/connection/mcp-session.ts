import { setTimeout as sleep } from 'node:timers/promises';
import {
  type CallToolResult,
  Client,
  type ClientOptions,
  type jsonSchemaValidator,
  type Progress,
  type Tool,
  type Transport,
} from '@modelcontextprotocol/client';
import { withDeadline } from '../../../platform/runtime/with-deadline.js';
import type { McpServerSettings } from '../../../platform/settings/sections/mcp.section.js';
import type { ArgumentCheck, ToolOutput } from '../../tools/tools.api.js';
import { callPrompt, PROMPT_CALL, type PromptListing, promptsOf } from '../prompts/server-prompt.js';
import { headedTools, ListBounds, listingOf, type ToolListing } from '../tools/tool-listing.js';
import { ChildTransport } from '../transport/child-transport.js';
import { type CallContext, originOf } from './call-origin.js';
import { withLinkedSignal } from './linked-signal.js';
import { hadNoToken, McpOutputInvalid, McpToolFailed, SignInNeeded } from './mcp-failure.js';
import type { McpSessionParts } from './mcp-session-parts.js';
import { type OpenCall, OpenCalls } from './open-calls.js';
import { callResourceTool, isResourceTool, RESOURCE_TOOLS } from './resource-tools.js';
import { logWhatItSays } from './server-log.js';
import { ServerRequests } from './server-requests.js';
import { SessionTasks } from './session-tasks.js';
import { toolOutput } from './tool-output.js';

const CLIENT = { name: 'agent-gateway', version: '1' };
const CLOSE_MS = 3000;
/** The library's own time-out never ends a call: `OpenCalls` has a clock that can be paused. */
const NO_TIMEOUT_MS = 2 ** 31 - 1;
/** Keeps the client library from compiling output schemas on the event loop; `assertFits` checks them in a thread. */
const NO_VALIDATION: jsonSchemaValidator = {
  getValidator: () => (value) => ({ valid: true, data: value as never, errorMessage: undefined }),
};

/**
 * One connection to one server, from the handshake to its loss. `ServerRequests` answers what the server asks for
 * during a call.
 */
export class McpSession {
  private readonly client: Client;
  private readonly over = new AbortController();
  private readonly calls: OpenCalls;
  private lastAliveAt = performance.now();
  private readonly bounds = new ListBounds();
  private outputs: ReadonlyMap<string, ArgumentCheck> = new Map();
  private headed: ReadonlyMap<string, Tool> = new Map();
  private readsResources = false;
  private readonly tasks: SessionTasks;

  constructor(
    private readonly transport: Transport,
    private readonly server: McpServerSettings,
    private readonly parts: McpSessionParts,
  ) {
    const roots = server.roots && transport instanceof ChildTransport ? transport.folders(server) : [];
    const onChanged = (): void => parts.onToolsChanged();
    const listChanged = {
      tools: { autoRefresh: false, debounceMs: 0, onChanged },
      prompts: { autoRefresh: false, debounceMs: 0, onChanged: () => parts.onPromptsChanged?.() },
    };
    this.calls = new OpenCalls(server.request_timeout_ms);
    const requests = new ServerRequests({ ...parts.requests, settings: server, roots }, this.calls);
    const newClient = (mode: 'auto' | 'legacy', more: ClientOptions = {}): Client => {
      const capabilities = ServerRequests.capabilitiesFor(server, roots);
      const options = { capabilities, versionNegotiation: { mode }, jsonSchemaValidator: NO_VALIDATION };
      const client = new Client(CLIENT, { ...options, ...more });
      requests.answerThoseOf(client);
      logWhatItSays(client, parts.requests);
      return client;
    };
    this.client = newClient(server.transport === 'http' ? 'auto' : 'legacy', { listChanged });
    this.tasks = new SessionTasks({
      ...{ client: this.client, transport, server },
      asTasks: () => parts.asTasks?.(),
      reopen: (session) => parts.reopen?.(session),
      newClient: () => newClient('legacy'),
      onAnswer: () => this.markAlive(),
      onProgress: (progress, context) => this.show(progress, context),
    });
    // The client library calls this handler before its own.
    transport.onmessage = (message) => {
      this.bounds.cut(message);
      this.tasks.note(message);
    };
    this.client.onclose = () => this.giveUp(new Error(faultOf(transport)));
  }

  /** Performs the handshake. Throws the error of the transport or the server, and at the timeout. */
  async open(signal: AbortSignal, timeoutMs = this.server.startup_timeout_ms): Promise<void> {
    await this.client.connect(this.transport, { signal, timeout: timeoutMs });
  }

  async listTools(signal: AbortSignal, timeoutMs = this.server.startup_timeout_ms): Promise<ToolListing> {
    // For a capability that the server lacks, the client library would write to the console.
    if (this.client.getServerCapabilities()?.tools === undefined) return this.withResources(listingOf([], 0));
    this.bounds.reset();
    const options = { signal, timeout: timeoutMs, cacheMode: 'refresh' as const };
    const { tools } = await this.client.listTools(undefined, options);
    this.markAlive();
    const listing = listingOf(tools, this.bounds.leftOut, this.tasks.areRun);
    this.tasks.tools = listing.asTasks;
    const outputs = [...listing.outputSchemas].map(
      ([name, schema]) => [name, this.parts.checks.of(schema)] as const,
    );
    this.outputs = new Map(outputs);
    this.headed = headedTools(listing);
    return this.withResources(listing);
  }

  /** Throws the client library's errors. */
  listPrompts(server: string, signal: AbortSignal): Promise<PromptListing> {
    return promptsOf(this.client, server, { signal, timeout: this.server.startup_timeout_ms });
  }

  /** Throws `McpToolFailed`, `McpOutputInvalid` and the client library's errors; an abort cancels the call at the server. */
  call(
    tool: string,
    args: Readonly<Record<string, unknown>>,
    parent: AbortSignal,
    context?: CallContext,
  ): Promise<ToolOutput> {
    return this.calls.run(context, parent, async (call) => {
      const { silence } = call;
      const result = this.tasks.includes(tool, context)
        ? await this.tasks.run({ name: tool, arguments: args, ...this.metaOf(context) }, call, parent)
        : await this.request(tool, args, call);
      this.markAlive();
      silence.clear();
      const output = toolOutput(result);
      if (result.isError === true)
        throw new McpToolFailed(output.content || 'The tool failed and gave no reason.');
      await this.assertFits(tool, result, parent);
      return output;
    });
  }

  private request(
    tool: string,
    args: Readonly<Record<string, unknown>>,
    call: OpenCall,
  ): Promise<CallToolResult> {
    const { context, signal } = call;
    const options = { signal, timeout: NO_TIMEOUT_MS, onprogress: this.progressOf(call) };
    if (isResourceTool(tool) && (this.parts.hasResourceTools?.() ?? this.readsResources))
      return callResourceTool(this.client, tool, args, options);
    if (tool === PROMPT_CALL) return callPrompt(this.client, args, options);
    return this.client.callTool(
      { name: tool, arguments: { ...args }, ...this.metaOf(context) },
      { ...options, ...this.headersOf(tool) },
    );
  }

  private progressOf({ context, silence }: OpenCall) {
    return (progress: Progress): void => {
      this.markAlive();
      silence.restart();
      this.show(progress, context);
    };
  }

  /** The tools of the last list that are called as tasks. */
  get taskTools(): ReadonlySet<string> {
    return this.tasks.tools;
  }

  /** Whether the list has tools for resources: a server's own tools of these names come first. */
  get hasResourceTools(): boolean {
    return this.readsResources;
  }

  /** Over HTTP some arguments are also sent as headers, as the tool's schema says. */
  private headersOf(tool: string): { toolDefinition?: Tool } {
    const toolDefinition = (this.parts.headedTools?.() ?? this.headed).get(tool);
    return toolDefinition === undefined ? {} : { toolDefinition };
  }

  /** The tools of the last list that have arguments as headers. */
  get headedTools(): ReadonlyMap<string, Tool> {
    return this.headed;
  }

  /** The output schemas by tool, of the last list. */
  get outputChecks(): ReadonlyMap<string, ArgumentCheck> {
    return this.outputs;
  }

  /** Checks the connection every `health_interval_ms` with a round trip. Resolves with the reason when it ends. */
  async watch(signal: AbortSignal): Promise<Error> {
    const ended = AbortSignal.any([signal, this.over.signal]);
    for (;;) {
      await sleep(this.server.health_interval_ms, undefined, { signal: ended }).catch(() => undefined);
      if (ended.aborted) return ended.reason as Error;
      const problem = await withLinkedSignal(ended, (linked) => this.roundTrip(linked));
      if (problem !== undefined) this.giveUp(problem);
    }
  }

  /** What ended the connection; undefined while it is up. */
  get fault(): Error | undefined {
    return this.over.signal.reason as Error | undefined;
  }

  /** How a child ended, or what it did that ended the connection; undefined while it runs, and for other servers. */
  get childFault(): string | undefined {
    return this.transport instanceof ChildTransport ? this.transport.fault : undefined;
  }

  /** The line of a child's standard error that best says what is wrong. */
  get recentOutput(): string | undefined {
    return this.transport instanceof ChildTransport ? this.transport.recentOutput : undefined;
  }

  /** Declares the connection lost. */
  giveUp(why: Error): void {
    this.over.abort(why);
  }

  /** Resolves when the connection is closed and its child is gone, or after three seconds. */
  async close(): Promise<void> {
    const closing = this.client.close().catch(() => undefined);
    // After a failed connect the client may not close the transport.
    const sure = closing.then(() => this.transport.close().catch(() => undefined));
    await withDeadline(sure, CLOSE_MS, () => undefined);
  }

  private withResources(listing: ToolListing): ToolListing {
    const hasAny = this.client.getServerCapabilities()?.resources !== undefined;
    this.readsResources =
      this.server.resources && hasAny && !listing.definitions.some(({ name }) => isResourceTool(name));
    if (!this.readsResources) return listing;
    return { ...listing, definitions: [...listing.definitions, ...RESOURCE_TOOLS] };
  }

  /** Throws `McpOutputInvalid`. An unusable schema refuses nothing. */
  private async assertFits(
    tool: string,
    { structuredContent }: CallToolResult,
    signal: AbortSignal,
  ): Promise<void> {
    const check = (this.parts.outputs?.() ?? this.outputs).get(tool);
    if (check === undefined || structuredContent === undefined) return;
    if ((await check.verify(signal)) !== undefined) return;
    const problem = await check.problem(structuredContent, signal);
    if (problem !== undefined) throw new McpOutputInvalid(problem);
  }

  /** A child trusts its only caller, so it is told in the call itself; HTTP servers get a proof with each request. */
  private metaOf(context: CallContext | undefined): { _meta?: Record<string, unknown> } {
    if (this.server.transport !== 'stdio' || context === undefined) return {};
    const { user: user_id, sessionId: session_id, agent } = originOf(context);
    return { _meta: { user_id, session_id, agent } };
  }

  private show({ progress, total, message }: Progress, context: CallContext | undefined): void {
    context?.call?.progress({
      progress,
      ...(total === undefined ? {} : { total }),
      ...(message === undefined ? {} : { message: this.parts.requests.hideKnown(message) }),
    });
  }

  private markAlive(): void {
    this.lastAliveAt = performance.now();
  }

  /** @returns what is wrong, if anything; a server that is busy with calls may be silent for `request_timeout_ms` */
  private async roundTrip(signal: AbortSignal): Promise<Error | undefined> {
    const { health_timeout_ms: timeout, request_timeout_ms: timeoutMs } = this.server;
    try {
      // The newest protocol has no ping; listing tools is the cheapest request that every server answers.
      if (this.client.getProtocolEra() !== 'modern') await this.client.ping({ signal, timeout });
      else {
        this.bounds.reset();
        await this.client.listTools(undefined, { signal, timeout, cacheMode: 'refresh' });
      }
      this.markAlive();
      return undefined;
    } catch (error) {
      if (signal.aborted || hadNoToken(error)) return undefined;
      if (error instanceof SignInNeeded) return error;
      if (this.calls.size > 0 && performance.now() - this.lastAliveAt < timeoutMs) return undefined;
      return new Error('it no longer answers', { cause: error });
    }
  }
}

function faultOf(transport: Transport): string {
  const fault = 'fault' in transport ? transport.fault : undefined;
  return typeof fault === 'string' ? fault : 'the connection was closed';
}
