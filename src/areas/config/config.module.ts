import { type DynamicModule, Global, Module } from '@nestjs/common';
import { Settings } from '../../platform/settings/settings.js';
import { SettingsSubscribers } from '../../platform/settings/settings-subscribers.js';
import { ConfigHistory } from './config-history.service.js';
import { Configuration } from './configuration.js';
import { ConfigurationWatch } from './configuration-watch.service.js';

/** The configuration for every module: `Settings` to read it, `SettingsSubscribers` to act when it changes. */
@Global()
@Module({})
export class ConfigurationModule {
  static of(configuration: Configuration): DynamicModule {
    return {
      module: ConfigurationModule,
      providers: [
        { provide: Configuration, useValue: configuration },
        { provide: Settings, useValue: configuration.live },
        { provide: SettingsSubscribers, useValue: configuration.subscribers },
        ConfigurationWatch,
        ConfigHistory,
      ],
      exports: [ConfigHistory, Configuration, Settings, SettingsSubscribers],
    };
  }
}
