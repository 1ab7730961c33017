import type { Database } from '../../platform/database/database.js';
import { EventSignal, EventStore } from '../../platform/events/event.store.js';
import type { Logs } from '../../platform/logging/logger.js';
import type { Redactor } from '../../platform/logging/redactor.js';
import type { SecretBox } from '../../platform/secrets/secret-box.js';
import { CandidateBuilder } from '../../platform/settings/candidate-builder.js';
import type { Environment } from '../../platform/settings/environment.js';
import { settingsFile } from '../../platform/settings/file-layer.js';
import {
  compareSettings,
  LiveSettings,
  snapshotOf,
  warnOfIgnored,
} from '../../platform/settings/live-settings.js';
import { SecretRegistrar } from '../../platform/settings/redaction.js';
import {
  type OverruledKey,
  overruledKeys,
  unbindableHosts,
  warnOfOverruled,
  warnOfUnbindable,
  withoutOverruled,
} from '../../platform/settings/replica-keys.js';
import { SettingsChanges } from '../../platform/settings/settings-changes.js';
import { type LoadedSettings, loadSettings } from '../../platform/settings/settings-loader.js';
import type { CrossKeyCheck } from '../../platform/settings/settings-validation.js';
import { ConfigStore } from './config.store.js';
import { Configuration } from './configuration.js';
import { OverrideChanger } from './override-changer.js';

export interface OpenConfigurationRequest {
  readonly environment: Environment;
  /** File and environment as read at the start. */
  readonly loaded: LoadedSettings;
  readonly database: Database;
  readonly box: SecretBox;
  readonly logs: Logs;
  readonly redactor: Redactor;
  /** Rules of areas over several keys; `loaded` has passed them. */
  readonly checks: readonly CrossKeyCheck[];
  /** Whether this process will listen where the settings say. */
  readonly listens?: boolean;
}

/** Merges the stored overrides into the loaded settings. Logs a warning for each one that does not fit and ignores it. */
export async function openConfiguration(request: OpenConfigurationRequest): Promise<Configuration> {
  const { environment, loaded, database, box, logs, checks } = request;
  const logger = logs.for('config');
  const store = new ConfigStore(database);
  const builder = new CandidateBuilder(box, checks);
  const candidate = builder.build(loaded.layers, await store.load());
  warnOfIgnored(logger, candidate);
  const secrets = new SecretRegistrar(request.redactor);
  secrets.expect(candidate)();
  warnOfOverruled(logger, candidate);
  const without = (keys: readonly OverruledKey[]) =>
    keys.length === 0 ? candidate : builder.build(loaded.layers, withoutOverruled(candidate.stored, keys));
  const overruled = overruledKeys(candidate);
  const unbindable = request.listens ? await unbindableHosts(without(overruled), loaded.settings) : [];
  warnOfUnbindable(logger, unbindable);
  const { settings } = candidate;
  const current = without([...overruled, ...unbindable]).settings;
  const snapshot = snapshotOf(candidate, compareSettings({ settings, current }, settings));
  const live = new LiveSettings(snapshot, new SettingsChanges(logger), secrets, logger);
  // No one listens to this signal: the deliverer finds the event at its next poll, within a second.
  const events = new EventStore(database, new EventSignal());
  const changer = new OverrideChanger(database, store, builder, live, events);
  const readLayers = () => loadSettings({ environment, file: loaded.file, checks }).layers;
  const file = () => settingsFile(environment, loaded.file);
  return new Configuration({ live, changer, builder, store, box, file, readLayers });
}
