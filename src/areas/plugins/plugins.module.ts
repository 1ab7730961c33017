import { Module } from '@nestjs/common';
import { ToolsModule } from '../tools/tools.module.js';
import { PluginDirectory } from './plugin-directory.port.js';
import { PluginFactory } from './plugin-factory.js';
import { PluginGauges } from './plugin-gauges.js';
import { PluginHttp } from './plugin-http.js';
import { PluginStates } from './plugin-state.store.js';
import { PluginTools } from './plugin-tools.js';
import { PluginWatch } from './plugin-watch.service.js';
import { Plugins } from './plugins.service.js';

/** WebAssembly plugins: read from their folder, run in threads, offered as tools. */
@Module({
  imports: [ToolsModule],
  providers: [
    PluginHttp,
    PluginTools,
    PluginStates,
    PluginFactory,
    PluginFactory.metric,
    Plugins,
    { provide: PluginDirectory, useExisting: Plugins },
    PluginWatch,
    PluginGauges,
    ...PluginGauges.providers,
  ],
  exports: [Plugins, PluginDirectory],
})
export class PluginsModule {}
