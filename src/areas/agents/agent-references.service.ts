import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { stackOf } from '../../common/errors/error-text.js';
import { type Logger, Logs } from '../../platform/logging/logger.js';
import { Poller } from '../../platform/runtime/poller.js';
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
  private pauseMs = FIRST_LOOK_MS;
  private readonly poller = new Poller({
    everyMs: () => this.pauseMs,
    look: () => this.look(),
    failed: (error) =>
      this.logger.error('what agents name could not be checked; will retry', { error: stackOf(error) }),
  });
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
    this.stopListening = this.changes.listen(SECTIONS, () => this.lookAnew());
    this.lookAnew();
  }

  async onModuleDestroy(): Promise<void> {
    this.stopListening();
    await this.poller.stop();
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

  /** Not sooner, even if a look was due: tools and skills have not followed by then. */
  private lookAnew(): void {
    this.pauseMs = FIRST_LOOK_MS;
    void this.poller.stop();
    this.poller.start(FIRST_LOOK_MS);
  }

  private look(): void {
    if (!this.sources.areSettled || !this.skills.areRead) return;
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
    this.pauseMs =
      offer.awaited.length > 0 ? Math.min(2 * this.pauseMs, LONGEST_PAUSE_MS) : Number.POSITIVE_INFINITY;
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
