import { isAmong } from '../../agent/name-pattern.js';
import { safeToolName } from '../../agent/tool-names.js';
import type { RegisteredTool, ToolRegistry } from '../../agent/tool-registry.js';
import type { McpServerSettings } from '../../config/sections/mcp.section.js';
import type { Logger } from '../../logs/logger.js';
import type { McpTool } from '../mcp-server.js';
import type { KnownTools } from './known-tools.store.js';
import { fingerprintOf, isDestructive, isReasonable, type ToolDefinition } from './tool-definition.js';

const MOST_TOOLS = 500;

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

  constructor(
    private readonly server: OfferingServer,
    private readonly registry: ToolRegistry,
    private readonly known: KnownTools,
    private readonly logger: Logger,
  ) {}

  get tools(): readonly McpTool[] {
    return [...this.offers.values()].map(({ tool }) => tool);
  }

  /** Those that wait for an operator's approval, by the server's own names. */
  get quarantined(): readonly string[] {
    return [...this.held];
  }

  /** Brings the catalogue to this list. Throws when the database cannot be asked; then nothing has changed. */
  async update(definitions: readonly ToolDefinition[]): Promise<void> {
    const wanted = this.wanted(definitions);
    const held = await this.known.look(this.server.name, wanted);
    for (const name of held) {
      if (!this.held.has(name))
        this.logger.warn('a tool changed and is in quarantine until it is approved', { tool: name });
    }
    this.held = held;
    const now = wanted
      .filter(({ name }) => !held.has(name))
      .map((definition) => [fingerprintOf(definition), definition] as const);
    const staying = new Map(now.map(([fingerprint, { name }]) => [name, fingerprint]));
    for (const [name, offer] of this.offers) {
      if (staying.get(name) === offer.fingerprint) continue;
      offer.withdraw();
      this.offers.delete(name);
    }
    for (const [fingerprint, definition] of now) {
      if (!this.offers.has(definition.name)) this.offer(fingerprint, definition);
    }
  }

  withdrawAll(): void {
    for (const { withdraw } of this.offers.values()) withdraw();
    this.offers = new Map();
  }

  private wanted(definitions: readonly ToolDefinition[]): readonly ToolDefinition[] {
    const { allow_tools: allow, deny_tools: deny } = this.server.settings;
    const byName = new Map(definitions.map((definition) => [definition.name, definition]));
    const allowed = [...byName.values()].filter(({ name }) => isAmong(name, allow) && !isAmong(name, deny));
    const reasonable = allowed.filter(isReasonable).slice(0, MOST_TOOLS);
    const left = allowed.length - reasonable.length;
    if (left > 0) this.logger.warn('tools are left out: they are too large or too many', { left_out: left });
    return reasonable;
  }

  private offer(fingerprint: string, definition: ToolDefinition): void {
    const { name: server } = this.server;
    const { name: tool, description, inputSchema } = definition;
    const shown: McpTool = { name: safeToolName(server, tool), server, tool, description, inputSchema };
    try {
      const withdraw = this.registry.register(this.registered(shown, isDestructive(definition)));
      this.offers.set(tool, { fingerprint, tool: shown, withdraw });
    } catch (error) {
      this.logger.warn('a tool cannot be offered', { tool, reason: String(error) });
    }
  }

  private registered(
    { name, server, tool, description, inputSchema }: McpTool,
    destructive: boolean,
  ): RegisteredTool {
    return {
      name,
      description,
      inputSchema,
      traits: { source: server, isDestructive: destructive },
      isAvailable: this.server.isAvailable,
      run: (args, _context, signal) => this.server.run(tool, args, signal),
    };
  }
}
