import { Injectable } from '@nestjs/common';
import { InjectMetric, makeCounterProvider } from '@willsoto/nestjs-prometheus';
import type { Counter } from 'prom-client';
import { EventStore } from '../../platform/events/event.store.js';
import { Logs } from '../../platform/logging/logger.js';
import { Redactor } from '../../platform/logging/redactor.js';
import { Settings } from '../../platform/settings/settings.js';
import { InstalledPlugin } from './installed-plugin.js';
import { PluginHttp } from './plugin-http.js';
import { readPackage } from './plugin-package.js';
import type { PluginState } from './plugin-state.store.js';
import { PluginTools } from './plugin-tools.js';
import { PluginRunner } from './thread/plugin-runner.js';
import type { EndReason, PluginHost } from './thread/plugin-thread.js';

const ENDED = 'agent_gateway_plugin_threads_ended_total';

/** Creates installed plugins with everything they depend on. */
@Injectable()
export class PluginFactory {
  static readonly metric = makeCounterProvider({
    name: ENDED,
    help: 'Plugin threads that were terminated, by reason: timeout, memory or crash.',
    labelNames: ['plugin', 'reason'],
  });

  constructor(
    private readonly settings: Settings,
    private readonly tools: PluginTools,
    private readonly http: PluginHttp,
    private readonly redactor: Redactor,
    private readonly events: EventStore,
    private readonly logs: Logs,
    @InjectMetric(ENDED) private readonly ended: Counter<'plugin' | 'reason'>,
  ) {}

  make(name: string, state: PluginState | undefined): InstalledPlugin {
    return new InstalledPlugin(name, state, {
      start: async () => {
        const pack = await readPackage(name, this.settings.current.plugins);
        return PluginRunner.start(pack, this.host(name, pack.manifest.permissions.net.http));
      },
      tools: this.tools,
      redact: (text) => this.redact(text),
    });
  }

  redact(text: string): string {
    return this.redactor.redact(text);
  }

  private host(name: string, hosts: readonly string[]): PluginHost {
    const logger = this.logs.for(`plugin::${name}`);
    return {
      log: (level, text) => logger[level](text),
      http: (request, signal) => this.http.request(hosts, request, signal),
      ended: (reason) => {
        logger.warn('the thread of the plugin was terminated', { reason });
        this.ended.inc({ plugin: name, reason });
        void this.report(name, reason);
      },
    };
  }

  private async report(name: string, reason: EndReason): Promise<void> {
    const data = { source: 'plugin', reason: `plugin_${reason}`, name } as const;
    try {
      await this.events.publish({ name: 'error.occurred', userId: null, data });
    } catch (error) {
      this.logs
        .for(`plugin::${name}`)
        .warn('the event error.occurred could not be published', { error: String(error) });
    }
  }
}
