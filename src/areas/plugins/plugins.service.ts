import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { sentenceOf } from '../../common/errors/error-text.js';
import { Conflict, GatewayError, NotFound } from '../../common/errors/gateway-error.js';
import { type Logger, Logs } from '../../platform/logging/logger.js';
import { SerialQueue } from '../../platform/runtime/serial-queue.js';
import { Slots } from '../../platform/runtime/slots.js';
import { Settings } from '../../platform/settings/settings.js';
import { InstalledPlugin } from './installed-plugin.js';
import type { Plugin } from './plugin.js';
import { PluginDirectory, type PluginFolder } from './plugin-directory.port.js';
import { PluginFactory } from './plugin-factory.js';
import { pluginNames } from './plugin-package.js';
import { type PluginChange, type PluginState, PluginStates } from './plugin-state.store.js';

class PluginNotFound extends NotFound {
  constructor() {
    super('There is no such plugin. GET /plugins lists the installed ones.');
  }
}

/** The plugin is unchanged: the version that served before, if any, goes on serving. */
class PluginNotLoaded extends Conflict {
  constructor(reason: string) {
    super(`The plugin could not be loaded: ${reason}`, { details: { reason: 'plugin_not_loaded' } });
  }
}

interface Entry {
  readonly plugin: InstalledPlugin;
  readonly turns: SerialQueue;
}

/** What a caller wants done. */
type StateRequest = Pick<PluginChange, 'action' | 'actor'>;

const MAX_WAITING_CHANGES = 16;
/** Each start takes a core while it compiles, with its load time-out running. */
const MAX_STARTS_AT_ONCE = 4;

/**
 * The plugins of this gateway: those of `plugins.directory`, each loaded, disabled or failed
 * (docs/specification/api.md, 2.6 and 3).
 */
@Injectable()
export class Plugins extends PluginDirectory implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly entries = new Map<string, Entry>();
  private readonly logger: Logger;

  constructor(
    private readonly factory: PluginFactory,
    private readonly states: PluginStates,
    private readonly settings: Settings,
    logs: Logs,
  ) {
    super();
    this.logger = logs.for('plugins');
  }

  /** Loads all plugins. One that does not load is listed as failed and delays the start no longer than its time limit. */
  async onApplicationBootstrap(): Promise<void> {
    const { directory } = this.settings.current.plugins;
    if (directory === '') return;
    try {
      const [names, states] = await Promise.all([pluginNames(directory), this.states.all()]);
      const starts = new Slots(MAX_STARTS_AT_ONCE);
      await Promise.all(names.map((name) => starts.run(() => this.install(name, states.get(name)))));
    } catch (error) {
      this.logger.error('plugins could not be listed', { error: sentenceOf(error) });
    }
  }

  async onModuleDestroy(): Promise<void> {
    await Promise.all([...this.entries.values()].map(({ plugin }) => plugin.remove('stop')));
  }

  list(): readonly Plugin[] {
    const plugins = [...this.entries.values()].map(({ plugin }) => plugin.describe());
    return plugins.sort((one, other) => (one.name < other.name ? -1 : 1));
  }

  loadedFolders(): readonly PluginFolder[] {
    return [...this.entries.values()].flatMap(({ plugin }) => plugin.folder ?? []);
  }

  get summary(): { readonly loaded: number; readonly total: number } {
    const plugins = this.list();
    return { loaded: plugins.filter(({ status }) => status === 'loaded').length, total: plugins.length };
  }

  /** Idempotent. Throws `PluginNotFound`, and `PluginNotLoaded` when it cannot be loaded. */
  async enable(name: string, actor: string): Promise<Plugin> {
    const { plugin, turns } = await this.find(name);
    return turns.run(async () => {
      if (plugin.status === 'loaded') return plugin.describe();
      return this.attempt(plugin, { action: 'enable', actor }, (settle) =>
        plugin.isRunning ? plugin.offer(() => settle(plugin.version)) : plugin.load(settle),
      );
    });
  }

  /** Idempotent. Withdraws its tools; its thread stays (docs/specification/api.md, 3). Throws `PluginNotFound`. */
  async disable(name: string, actor: string): Promise<Plugin> {
    const { plugin, turns } = await this.find(name);
    return turns.run(async () => {
      if (plugin.status !== 'disabled') {
        plugin.disable(await this.states.change({ name, version: plugin.version, action: 'disable', actor }));
      }
      return plugin.describe();
    });
  }

  /** Loads it from disk again. Throws `PluginNotFound`, and `PluginNotLoaded`: then the previous version goes on serving. */
  async reload(name: string, actor: string): Promise<Plugin> {
    const { plugin, turns } = await this.find(name);
    return turns.run(() =>
      this.attempt(plugin, { action: 'reload', actor }, (settle) => plugin.load(settle)),
    );
  }

  /**
   * Applies the changes of other replicas. Throws `Unavailable` when the database cannot be queried.
   * @returns whether every plugin is up to date
   */
  async follow(): Promise<boolean> {
    if (this.entries.size === 0) return true;
    let isBehind = false;
    for (const [name, state] of await this.states.all()) {
      const entry = this.entries.get(name);
      if (entry?.plugin.isBehind(state) !== true) continue;
      await entry.turns.run(() => this.catchUp(entry.plugin, state));
      isBehind ||= entry.plugin.isBehind(state);
    }
    return !isBehind;
  }

  /** Also finds a folder that was added after the start. */
  private async find(name: string): Promise<Entry> {
    const known = this.entries.get(name);
    if (known !== undefined) return known;
    const names = await pluginNames(this.settings.current.plugins.directory).catch(
      (): readonly string[] => [],
    );
    if (!names.includes(name)) throw new PluginNotFound();
    const states = await this.states.all();
    return this.entries.get(name) ?? this.enter(name, states.get(name));
  }

  private enter(name: string, state: PluginState | undefined): Entry {
    const entry = { plugin: this.factory.make(name, state), turns: new SerialQueue(MAX_WAITING_CHANGES) };
    this.entries.set(name, entry);
    return entry;
  }

  /** A disabled plugin is not started. */
  private async install(name: string, state: PluginState | undefined): Promise<void> {
    const { plugin, turns } = this.enter(name, state);
    if (state?.disabled === true) return;
    await turns.run(() => this.applyHere(plugin, state, () => plugin.load(() => Promise.resolve(state))));
  }

  /** Applies a change on behalf of a caller; a failure is audited too. */
  private async attempt(
    plugin: InstalledPlugin,
    request: StateRequest,
    act: (settle: (version: string) => Promise<PluginState>) => Promise<void>,
  ): Promise<Plugin> {
    const { name } = plugin;
    try {
      await act((version) => this.states.change({ name, version, ...request }));
      return plugin.describe();
    } catch (error) {
      const reason = this.factory.redact(sentenceOf(error));
      await this.states.recordFailure({ name, reason, ...request });
      if (error instanceof GatewayError) throw error;
      throw new PluginNotLoaded(reason);
    }
  }

  private async catchUp(plugin: InstalledPlugin, state: PluginState): Promise<void> {
    if (!plugin.isBehind(state)) return;
    if (state.disabled) return plugin.disable(state);
    await this.applyHere(plugin, state, () =>
      plugin.hasMissedReload(state) || !plugin.isRunning
        ? plugin.load(() => Promise.resolve(state))
        : plugin.offer(() => Promise.resolve(state)),
    );
  }

  /** Applies a change on this replica only. A failure is listed and logged; a reload tries again. */
  private async applyHere(
    plugin: InstalledPlugin,
    state: PluginState | undefined,
    act: () => Promise<void>,
  ): Promise<void> {
    const { name } = plugin;
    try {
      await act();
      this.logger.info('a plugin is loaded', { plugin: name, version: plugin.version });
    } catch (error) {
      if (state !== undefined) plugin.accept(state);
      this.logger.warn('a plugin could not be loaded', { plugin: name, reason: sentenceOf(error) });
    }
  }
}
