import { type DynamicModule, Global, Module } from '@nestjs/common';
import { Configuration } from './configuration.js';
import { ConfigurationWatch } from './configuration-watch.service.js';
import { Settings } from './settings.js';
import { SettingsSubscribers } from './settings-subscribers.js';

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
      ],
      exports: [Configuration, Settings, SettingsSubscribers],
    };
  }
}
