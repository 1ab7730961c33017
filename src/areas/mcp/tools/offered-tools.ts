import { sentenceOf } from '../../../common/errors/error-text.js';
import { isAmong } from '../../../common/text/name-pattern.js';
import type { Logger } from '../../../platform/logging/logger.js';
import { signalWithin } from '../../../platform/runtime/signal-within.js';
import type { McpServerSettings } from '../../../platform/settings/sections/mcp.section.js';
import {
  type ArgumentChecks,
  type RegisteredTool,
  safeToolName,
  type ToolContext,
  type ToolOutput,
  type ToolRegistry,
} from '../../tools/tools.api.js';
import type { McpTool } from '../mcp-server.js';
import type { KnownTools } from './known-tools.store.js';
import { fingerprintOf, isWithinSize, type ToolDefinition, type ToolListing } from './tool-listing.js';

const MAX_TOOLS = 500;
/** How long the schemas of one list may take to check; the rest waits for the next list. */
const MAX_CHECK_MS = 20_000;

/** Runs a tool by the server's own name for it. */
export type RunTool = (
  tool: string,
  args: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
  context?: ToolContext,
) => Promise<ToolOutput>;

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

/** What one server has in the catalogue: its tools without those that are denied, too large or in quarantine. */
export class OfferedTools {
  private offers = new Map<string, Offer>();
  private held: ReadonlySet<string> = new Set();
  /** Warnings about the last list, so that they are not logged again with every list. */
  private warnings: ReadonlySet<string> = new Set();
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

  /** Tools that wait for an operator's approval, by the server's own names. */
  get quarantined(): readonly string[] {
    return [...this.held];
  }

  has(tool: string): boolean {
    return this.offers.has(tool);
  }

  /** Undefined for a tool that is not offered. */
  fingerprintOf(tool: string): string | undefined {
    return this.offers.get(tool)?.fingerprint;
  }

  /** Whether some schemas could not be checked in time. */
  get isIncomplete(): boolean {
    return this.isCutShort;
  }

  /**
   * Makes the catalogue match this list. Throws when the database cannot be queried, and then changes nothing; throws the
   * signal's reason when it is aborted.
   */
  async update(listing: ToolListing, signal: AbortSignal): Promise<void> {
    const warnings = new Set<string>();
    const selection = this.selection(listing, warnings);
    const held = await this.known.reconcile(this.server.name, selection, this.server.settings.pin_tools);
    for (const name of held) {
      if (!this.held.has(name))
        this.logger.warn('a tool is new or changed; it is in quarantine until an operator approves it', {
          tool: name,
        });
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
    const usable = await this.usable(fresh, warnings, signal);
    signal.throwIfAborted();
    for (const [fingerprint, definition] of usable) this.offer(fingerprint, definition);
    for (const warning of warnings) if (!this.warnings.has(warning)) this.logger.warn(warning);
    this.warnings = warnings;
  }

  withdrawAll(): void {
    for (const { withdraw } of this.offers.values()) withdraw();
    this.offers = new Map();
  }

  /** Those whose schemas can be used. Checks one at a time, so that other servers get their turn. */
  private async usable<Entry extends readonly [string, ToolDefinition]>(
    entries: readonly Entry[],
    warnings: Set<string>,
    signal: AbortSignal,
  ): Promise<readonly Entry[]> {
    const inTime = signalWithin(MAX_CHECK_MS, signal);
    const usable: Entry[] = [];
    this.isCutShort = false;
    for (const entry of entries) {
      const [, { name, inputSchema }] = entry;
      try {
        const problem = await this.checks.of(inputSchema).verify(inTime);
        if (problem === undefined) usable.push(entry);
        else warnings.add(`the tool "${name.slice(0, 64)}" is left out: ${problem}`);
      } catch (error) {
        this.isCutShort = true;
        warnings.add(`tools are left out until their schemas have been checked: ${sentenceOf(error)}`);
      }
    }
    return usable;
  }

  private selection(
    { definitions, leftOut, tasksOnly }: ToolListing,
    warnings: Set<string>,
  ): readonly ToolDefinition[] {
    const { allow_tools: allow, deny_tools: deny } = this.server.settings;
    const byName = new Map(definitions.map((definition) => [definition.name, definition]));
    const allowed = [...byName.values()].filter(({ name }) => isAmong(name, allow) && !isAmong(name, deny));
    const fitting = allowed.filter(isWithinSize).slice(0, MAX_TOOLS);
    const left = allowed.length - fitting.length + leftOut;
    if (left > 0) warnings.add(`${left} tools are left out: too large or too many`);
    for (const name of tasksOnly.slice(0, MAX_TOOLS))
      warnings.add(
        `the tool "${name.slice(0, 64)}" is left out: it only runs as a task, and its server says of itself that it runs none`,
      );
    return fitting;
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
      run: (args, context, signal) => this.server.run(tool, args, signal, context),
    };
  }
}
