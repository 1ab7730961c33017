import { type DynamicModule, Global, Module } from '@nestjs/common';
import { Settings } from '../../platform/settings/settings.js';
import { SettingsChanges } from '../../platform/settings/settings-changes.js';
import { Configuration } from './configuration.js';
import { ConfigurationWatch } from './configuration-watch.service.js';

/** The configuration for every module: `Settings` to read it, `SettingsChanges` to act when it changes. */
@Global()
@Module({})
export class ConfigurationModule {
  static of(configuration: Configuration): DynamicModule {
    return {
      module: ConfigurationModule,
      providers: [
        { provide: Configuration, useValue: configuration },
        { provide: Settings, useValue: configuration.live },
        { provide: SettingsChanges, useValue: configuration.live.changes },
        ConfigurationWatch,
      ],
      exports: [Configuration, Settings, SettingsChanges],
    };
  }
}
