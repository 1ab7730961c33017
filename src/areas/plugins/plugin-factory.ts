import { Injectable } from '@nestjs/common';
import { InjectMetric, makeCounterProvider } from '@willsoto/nestjs-prometheus';
import type { Counter } from 'prom-client';
import { EventStore } from '../../platform/events/event.store.js';
import { Logs } from '../../platform/logging/logger.js';
import { Redactor } from '../../platform/logging/redactor.js';
import { Settings } from '../../platform/settings/settings.js';
import { readPackage } from './folder/plugin-package.js';
import { InstalledPlugin } from './installed-plugin.js';
import { PluginHttp } from './plugin-http.js';
import type { PluginState } from './state/plugin-state.store.js';
import { PluginRunner } from './thread/plugin-runner.js';
import type { EndReason, PluginHost } from './thread/plugin-thread.js';
import { PluginTools } from './tools/plugin-tools.js';

const ENDED = 'agent_gateway_plugin_threads_ended_total';

/** Makes plugins with everything they stand on. */
@Injectable()
export class PluginFactory {
  static readonly metric = makeCounterProvider({
    name: ENDED,
    help: 'Threads of plugins that had to be ended, by reason: timeout, memory or crash.',
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
        logger.warn('its thread was ended', { reason });
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
      this.logs.for(`plugin::${name}`).warn('webhooks could not be told of it', { error: String(error) });
    }
  }
}
