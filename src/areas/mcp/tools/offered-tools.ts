import { sentenceOf } from '../../../common/errors/sentence-of.js';
import { isAmong } from '../../../common/text/name-pattern.js';
import type { Logger } from '../../../platform/logging/logger.js';
import type { McpServerSettings } from '../../../platform/settings/sections/mcp.section.js';
import type { ArgumentChecks } from '../../tools/schemas/argument-checks.js';
import { safeToolName } from '../../tools/tool-names.js';
import type { RegisteredTool, ToolRegistry } from '../../tools/tool-registry.js';
import type { McpTool } from '../mcp-server.js';
import type { KnownTools } from './known-tools.store.js';
import { fingerprintOf, isReasonable, type ToolDefinition } from './tool-definition.js';
import type { ToolListing } from './tool-listing.js';

const MAX_TOOLS = 500;
/** So long one list of tools is looked through; what is left then is looked at with the next one. */
const MAX_POLL_MS = 20_000;

/** Runs a tool, by the server's own name of it. */
export type RunTool = (
  tool: string,
  args: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
) => Promise<string>;

interface Offer {
  readonly fingerprint: string;
  readonly tool: McpTool;
  readonly withdraw: () => void;
}

export interface OfferingServer {
  readonly name: string;
  readonly settings: McpServerSettings;
  readonly run: RunTool;
  readonly isAvailable: () => boolean;
}

/** What one server has in the catalogue: its tools without those that are denied, unreasonable or in quarantine. */
export class OfferedTools {
  private offers = new Map<string, Offer>();
  private held: ReadonlySet<string> = new Set();
  /** What was said last of tools that are left out, so that it is not said with every list. */
  private complaints: ReadonlySet<string> = new Set();
  private isCutShort = false;

  constructor(
    private readonly server: OfferingServer,
    private readonly registry: ToolRegistry,
    private readonly known: KnownTools,
    private readonly checks: ArgumentChecks,
    private readonly logger: Logger,
  ) {}

  get tools(): readonly McpTool[] {
    return [...this.offers.values()].map(({ tool }) => tool);
  }

  /** Those that wait for an operator's approval, by the server's own names. */
  get quarantined(): readonly string[] {
    return [...this.held];
  }

  has(tool: string): boolean {
    return this.offers.has(tool);
  }

  /** Whether some schemas could not be looked at in time. */
  get isIncomplete(): boolean {
    return this.isCutShort;
  }

  /**
   * Brings the catalogue to this list. Throws when the database cannot be asked; then nothing has changed; and the reason of
   * the signal, when it is aborted meanwhile.
   */
  async update(listing: ToolListing, signal: AbortSignal): Promise<void> {
    const complaints = new Set<string>();
    const selection = this.selection(listing, complaints);
    const held = await this.known.reconcile(this.server.name, selection);
    for (const name of held) {
      if (!this.held.has(name))
        this.logger.warn('a tool changed and is in quarantine until it is approved', { tool: name });
    }
    this.held = held;
    const now = selection
      .filter(({ name }) => !held.has(name))
      .map((definition) => [fingerprintOf(definition), definition] as const);
    const staying = new Map(now.map(([fingerprint, { name }]) => [name, fingerprint]));
    for (const [name, offer] of this.offers) {
      if (staying.get(name) === offer.fingerprint) continue;
      offer.withdraw();
      this.offers.delete(name);
    }
    const fresh = now.filter(([, { name }]) => !this.offers.has(name));
    const usable = await this.usable(fresh, complaints, signal);
    signal.throwIfAborted();
    for (const [fingerprint, definition] of usable) this.offer(fingerprint, definition);
    for (const complaint of complaints) if (!this.complaints.has(complaint)) this.logger.warn(complaint);
    this.complaints = complaints;
  }

  withdrawAll(): void {
    for (const { withdraw } of this.offers.values()) withdraw();
    this.offers = new Map();
  }

  /** Those whose schemas can be used; they are looked at one after the other, so that other servers have their turn. */
  private async usable<Entry extends readonly [string, ToolDefinition]>(
    entries: readonly Entry[],
    complaints: Set<string>,
    signal: AbortSignal,
  ): Promise<readonly Entry[]> {
    const inTime = AbortSignal.any([AbortSignal.timeout(MAX_POLL_MS), signal]);
    const usable: Entry[] = [];
    this.isCutShort = false;
    for (const entry of entries) {
      const [, { name, inputSchema }] = entry;
      try {
        const problem = await this.checks.of(inputSchema).verify(inTime);
        if (problem === undefined) usable.push(entry);
        else complaints.add(`the tool "${name.slice(0, 64)}" is left out: ${problem}`);
      } catch (error) {
        this.isCutShort = true;
        complaints.add(`tools are left out until their schemas have been looked at: ${sentenceOf(error)}`);
      }
    }
    return usable;
  }

  private selection(
    { definitions, leftOut, tasksOnly }: ToolListing,
    complaints: Set<string>,
  ): readonly ToolDefinition[] {
    const { allow_tools: allow, deny_tools: deny } = this.server.settings;
    const byName = new Map(definitions.map((definition) => [definition.name, definition]));
    const allowed = [...byName.values()].filter(({ name }) => isAmong(name, allow) && !isAmong(name, deny));
    const reasonable = allowed.filter(isReasonable).slice(0, MAX_TOOLS);
    const left = allowed.length - reasonable.length + leftOut;
    if (left > 0) complaints.add(`${left} tools are left out: they are too large or too many`);
    for (const name of tasksOnly.slice(0, MAX_TOOLS))
      complaints.add(
        `the tool "${name.slice(0, 64)}" is left out: it runs as a task only, which the gateway cannot do`,
      );
    return reasonable;
  }

  private offer(fingerprint: string, definition: ToolDefinition): void {
    const { name: server } = this.server;
    const { name: tool, description, inputSchema } = definition;
    const shown: McpTool = { name: safeToolName(server, tool), server, tool, description, inputSchema };
    try {
      const withdraw = this.registry.register(this.registered(shown));
      this.offers.set(tool, { fingerprint, tool: shown, withdraw });
    } catch (error) {
      this.logger.warn('a tool cannot be offered', { tool, reason: String(error) });
    }
  }

  private registered({ name, server, tool, description, inputSchema }: McpTool): RegisteredTool {
    return {
      name,
      description,
      inputSchema,
      source: server,
      isAvailable: this.server.isAvailable,
      run: (args, _context, signal) => this.server.run(tool, args, signal),
    };
  }
}
