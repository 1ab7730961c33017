import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { type Logger, Logs } from '../../platform/logging/logger.js';
import { type AgentSettings, agentNames, agentSettings } from '../../platform/settings/agent-settings.js';
import { Settings } from '../../platform/settings/settings.js';
import { SettingsChanges } from '../../platform/settings/settings-changes.js';
import { McpServers } from '../mcp/mcp.api.js';
import { Plugins } from '../plugins/plugins.api.js';
import { Skills } from '../skills/skills.api.js';
import { ToolRegistry, ToolSources } from '../tools/tools.api.js';
import { missingReferences, missingTargets, type Offer } from './missing-references.js';

/** After a change, tools and skills have this long to follow, in milliseconds. */
const FIRST_LOOK_MS = 1000;
/** The longest pause between two checks while a server or plugin is awaited, in milliseconds. */
const LONGEST_PAUSE_MS = 60_000;
const SECTIONS = [
  ...(['agent', 'agents', 'mcp.servers', 'skills', 'plugins'] as const),
  ...(['providers', 'limits', 'prices', 'auth'] as const),
];

/**
 * Finds tools and skills that agents name but that do not exist, and settings for agents and providers that do not
 * exist, and logs each once.
 */
@Injectable()
export class AgentReferences implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger: Logger;
  private told: ReadonlySet<string> = new Set();
  private timer: NodeJS.Timeout | undefined;
  private stopListening: () => void = () => undefined;

  constructor(
    private readonly tools: ToolRegistry,
    private readonly sources: ToolSources,
    private readonly servers: McpServers,
    private readonly plugins: Plugins,
    private readonly skills: Skills,
    private readonly settings: Settings,
    private readonly changes: SettingsChanges,
    logs: Logs,
  ) {
    this.logger = logs.for('agent::agents');
  }

  onApplicationBootstrap(): void {
    this.stopListening = this.changes.listen(SECTIONS, () => this.lookIn(FIRST_LOOK_MS));
    this.lookIn(FIRST_LOOK_MS);
  }

  onModuleDestroy(): void {
    this.stopListening();
    clearTimeout(this.timer);
  }

  /** Missing things that this agent names, a sentence for each. */
  missingOf(agent: AgentSettings): readonly string[] {
    return missingReferences(agent, this.offer());
  }

  private offer(): Offer {
    const awaitedServers = this.servers.list().filter(({ status }) => status !== 'connected');
    const awaitedPlugins = this.plugins.list().filter(({ status }) => status !== 'loaded');
    return {
      tools: this.tools.names,
      awaited: [...awaitedServers, ...awaitedPlugins].map(({ name }) => name),
      skills: this.skills.list().map(({ name }) => name),
    };
  }

  private lookIn(afterMs: number): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.look(afterMs), afterMs).unref();
  }

  private look(afterMs: number): void {
    if (!this.sources.areSettled || !this.skills.areRead) {
      this.lookIn(afterMs);
      return;
    }
    const { current } = this.settings;
    const offer = this.offer();
    const found = new Set(missingTargets(current));
    for (const problem of found)
      if (!this.told.has(problem))
        this.logger.warn('a setting names something that does not exist', { problem });
    for (const name of agentNames(current)) {
      const agent = readable(() => agentSettings(current, name));
      for (const problem of agent === undefined ? [] : missingReferences(agent, offer)) {
        const key = `${name} ${problem}`;
        found.add(key);
        if (!this.told.has(key))
          this.logger.warn('an agent names something that does not exist', { agent: name, problem });
      }
    }
    this.told = found;
    if (offer.awaited.length > 0) this.lookIn(Math.min(2 * afterMs, LONGEST_PAUSE_MS));
  }
}

/** A prompt file may have disappeared since it was checked: that is reported where it matters. */
function readable(read: () => AgentSettings | undefined): AgentSettings | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
