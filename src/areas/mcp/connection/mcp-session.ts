import { setTimeout as sleep } from 'node:timers/promises';
import {
  type CallToolResult,
  Client,
  type jsonSchemaValidator,
  type Transport,
} from '@modelcontextprotocol/client';
import type { McpServerSettings } from '../../../platform/settings/sections/mcp.section.js';
import type { ArgumentCheck, ArgumentChecks } from '../../tools/schemas/argument-checks.js';
import { ListBounds, listingOf, type ToolListing } from '../tools/tool-listing.js';
import { ChildTransport } from '../transport/child-transport.js';
import { withLinkedSignal } from './linked-signal.js';
import { McpOutputInvalid } from './mcp-failure.js';
import { toolOutput } from './tool-output.js';

/** A tool ran and says that it failed. */
export class McpToolFailed extends Error {
  override readonly name = 'McpToolFailed';
}

const CLIENT = { name: 'agent-gateway', version: '1' };
const CLOSE_MS = 3000;
/** The client library would compile the schemas of results on the event loop; they are checked here, in a thread. */
const NO_VALIDATION: jsonSchemaValidator = {
  getValidator: () => (value) => ({ valid: true, data: value as never, errorMessage: undefined }),
};

/** What a session speaks to beside its server. */
export interface McpSessionParts {
  readonly checks: ArgumentChecks;
  /** Hears, at once, that the list of tools is another one. */
  onToolsChanged(): void;
}

/**
 * One connection to one server, from the handshake to its loss. It declares no abilities of ours, so no server can ask
 * for samples, for files or for words of a user.
 */
export class McpSession {
  private readonly client: Client;
  private readonly over = new AbortController();
  private inFlight = 0;
  private lastAliveAt = performance.now();
  private readonly bounds = new ListBounds();
  private outputs: ReadonlyMap<string, ArgumentCheck> = new Map();

  constructor(
    private readonly transport: Transport,
    private readonly server: McpServerSettings,
    private readonly parts: McpSessionParts,
  ) {
    const onChanged = (): void => parts.onToolsChanged();
    const listChanged = { tools: { autoRefresh: false, debounceMs: 0, onChanged } };
    const mode = server.transport === 'http' ? ('auto' as const) : ('legacy' as const);
    this.client = new Client(CLIENT, {
      capabilities: {},
      listChanged,
      versionNegotiation: { mode },
      inputRequired: { autoFulfill: false },
      jsonSchemaValidator: NO_VALIDATION,
    });
    // The client library calls this before it reads a message itself.
    transport.onmessage = this.bounds.cut;
    this.client.onclose = () => this.giveUp(new Error(faultOf(transport)));
  }

  /** The handshake. Throws what the transport or the server says, and when the time is over. */
  async open(signal: AbortSignal, timeoutMs = this.server.startup_timeout_ms): Promise<void> {
    await this.client.connect(this.transport, { signal, timeout: timeoutMs });
  }

  async listTools(signal: AbortSignal, timeoutMs = this.server.startup_timeout_ms): Promise<ToolListing> {
    // Asked for what it never offered, the client library writes to the console.
    if (this.client.getServerCapabilities()?.tools === undefined) return listingOf([], 0);
    this.bounds.reset();
    const options = { signal, timeout: timeoutMs, cacheMode: 'refresh' as const };
    const { tools } = await this.client.listTools(undefined, options);
    this.markAlive();
    const listing = listingOf(tools, this.bounds.leftOut);
    const outputs = [...listing.outputSchemas].map(
      ([name, schema]) => [name, this.parts.checks.of(schema)] as const,
    );
    this.outputs = new Map(outputs);
    return listing;
  }

  /** Throws `McpToolFailed` for a tool that failed, and the client's errors; an abort cancels the call at the server. */
  async call(tool: string, args: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<string> {
    this.inFlight += 1;
    try {
      const options = {
        signal,
        timeout: this.server.request_timeout_ms,
        resetTimeoutOnProgress: true,
        onprogress: () => this.markAlive(),
      };
      const result = await this.client.callTool({ name: tool, arguments: { ...args } }, options);
      this.markAlive();
      const output = toolOutput(result);
      if (result.isError === true) throw new McpToolFailed(output || 'The tool failed without a word.');
      await this.assertFits(tool, result, signal);
      return output;
    } finally {
      this.inFlight -= 1;
    }
  }

  /** Checks the connection again and again with a real round trip. Resolves with why it ended. */
  async watch(signal: AbortSignal): Promise<Error> {
    const ended = AbortSignal.any([signal, this.over.signal]);
    for (;;) {
      await sleep(this.server.health_interval_ms, undefined, { signal: ended }).catch(() => undefined);
      if (ended.aborted) return ended.reason as Error;
      const problem = await withLinkedSignal(ended, (linked) => this.roundTrip(linked));
      if (problem !== undefined) this.giveUp(problem);
    }
  }

  /** What ended the connection, once something did. */
  get fault(): Error | undefined {
    return this.over.signal.reason as Error | undefined;
  }

  /** What a child said last beside its messages. */
  get recentOutput(): string | undefined {
    return this.transport instanceof ChildTransport ? this.transport.recentOutput : undefined;
  }

  /** Declares the connection lost, from whatever was learnt of it. */
  giveUp(why: Error): void {
    this.over.abort(why);
  }

  /** Resolves when the connection is closed; a child is gone then. */
  async close(): Promise<void> {
    const closing = this.client.close().catch(() => undefined);
    // A connect that failed may have left the transport to itself.
    const sure = closing.then(() => this.transport.close().catch(() => undefined));
    await Promise.race([sure, sleep(CLOSE_MS, undefined, { ref: false })]);
  }

  /** Throws `McpOutputInvalid`. A result is not refused for a schema that nobody can use. */
  private async assertFits(
    tool: string,
    { structuredContent }: CallToolResult,
    signal: AbortSignal,
  ): Promise<void> {
    const check = this.outputs.get(tool);
    if (check === undefined || structuredContent === undefined) return;
    if ((await check.verify(signal)) !== undefined) return;
    const problem = await check.problem(structuredContent, signal);
    if (problem !== undefined) throw new McpOutputInvalid(problem);
  }

  private markAlive(): void {
    this.lastAliveAt = performance.now();
  }

  /** @returns what is wrong; a server that is busy with calls may be silent as long as a call may be */
  private async roundTrip(signal: AbortSignal): Promise<Error | undefined> {
    const { health_timeout_ms: timeout, request_timeout_ms: timeoutMs } = this.server;
    try {
      // The newest protocol has no ping: the list of tools is the least that a server must answer.
      if (this.client.getProtocolEra() !== 'modern') await this.client.ping({ signal, timeout });
      else {
        this.bounds.reset();
        await this.client.listTools(undefined, { signal, timeout, cacheMode: 'refresh' });
      }
      this.markAlive();
      return undefined;
    } catch (error) {
      if (signal.aborted) return undefined;
      if (this.inFlight > 0 && performance.now() - this.lastAliveAt < timeoutMs) return undefined;
      return new Error('it does not answer any more', { cause: error });
    }
  }
}

function faultOf(transport: Transport): string {
  const fault = 'fault' in transport ? transport.fault : undefined;
  return typeof fault === 'string' ? fault : 'the connection was closed';
}
