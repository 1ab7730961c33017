import { Module } from '@nestjs/common';
import { Plugins } from './plugins.service.js';

/** Plugins. */
@Module({ providers: [Plugins], exports: [Plugins] })
export class PluginsModule {}
