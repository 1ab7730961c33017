import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { scrapedGauge, statusSamples } from '../../platform/metrics/scrape.service.js';
import { ToolsModule } from '../tools/tools.module.js';
import { PLUGIN_STATUSES } from './plugin.js';
import { PluginDirectory } from './plugin-directory.port.js';
import { PluginFactory } from './plugin-factory.js';
import { PluginHttp } from './plugin-http.js';
import { PluginStateEntity } from './plugin-state.entity.js';
import { PluginStates } from './plugin-state.store.js';
import { PluginTools } from './plugin-tools.js';
import { PluginWatch } from './plugin-watch.service.js';
import { Plugins } from './plugins.service.js';

/** WebAssembly plugins: read from their folder, run in threads, offered as tools. */
@Module({
  imports: [ToolsModule, TypeOrmModule.forFeature([PluginStateEntity])],
  providers: [
    PluginHttp,
    PluginTools,
    PluginStates,
    PluginFactory,
    PluginFactory.metric,
    Plugins,
    { provide: PluginDirectory, useExisting: Plugins },
    PluginWatch,
    ...scrapedGauge(
      {
        name: 'agent_gateway_plugin_status',
        help: 'Status of each plugin on this replica: 1 for the one it has.',
        labelNames: ['plugin', 'status'],
      },
      Plugins,
      (plugins) =>
        statusSamples(
          'plugin',
          PLUGIN_STATUSES,
          plugins.list().map(({ name, status }) => [name, status]),
        ),
    ),
    ...scrapedGauge(
      {
        name: 'agent_gateway_plugin_memory_bytes',
        help: 'Linear memory and buffers of each plugin as of its last call, in bytes.',
        labelNames: ['plugin'],
      },
      Plugins,
      (plugins) =>
        plugins.list().map(({ name, memoryBytes }) => ({ labels: { plugin: name }, value: memoryBytes })),
    ),
  ],
  exports: [Plugins, PluginDirectory],
})
export class PluginsModule {}
