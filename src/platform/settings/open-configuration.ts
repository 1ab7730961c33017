import type { Database } from '../database/database.js';
import { EventStore } from '../events/event.store.js';
import { EventSignal } from '../events/event-signal.js';
import type { Logs } from '../logging/logger.js';
import type { Redactor } from '../logging/redactor.js';
import type { SecretBox } from '../secrets/secret-box.js';
import { CandidateBuilder } from './candidate-builder.js';
import { ConfigStore } from './config.store.js';
import { Configuration } from './configuration.js';
import type { CrossKeyCheck } from './cross-key-checks.js';
import type { Environment } from './environment.js';
import { settingsFile } from './file-layer.js';
import { LiveSettings } from './live-settings.js';
import { OverrideChanger } from './override-changer.js';
import { overruledKeys, warnOfOverruled, withoutOverruled } from './replica-keys.js';
import { SecretRegistrar } from './secret-registrar.js';
import { type LoadedSettings, loadSettings } from './settings-loader.js';
import { snapshotOf } from './settings-snapshot.js';
import { SettingsSubscribers } from './settings-subscribers.js';
import { SettingsSwitch, warnOfIgnored } from './settings-switch.js';

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
}

export interface OpenedConfiguration {
  readonly configuration: Configuration;
  readonly changer: OverrideChanger;
  readonly store: ConfigStore;
}

/** Merges the stored overrides into the loaded settings. Logs a warning for each one that does not fit and ignores it. */
export async function openConfiguration(request: OpenConfigurationRequest): Promise<OpenedConfiguration> {
  const { environment, loaded, database, box, logs, checks } = request;
  const logger = logs.for('config');
  const store = new ConfigStore(database);
  const builder = new CandidateBuilder(box, checks);
  const candidate = builder.build(loaded.layers, await store.load());
  warnOfIgnored(logger, candidate);
  const secrets = new SecretRegistrar(request.redactor);
  secrets.register(candidate);
  warnOfOverruled(logger, candidate);
  const overruled = overruledKeys(candidate);
  const own =
    overruled.length === 0
      ? candidate
      : builder.build(loaded.layers, withoutOverruled(candidate.stored, overruled));
  const live = new LiveSettings(snapshotOf(candidate, own.settings));
  const subscribers = new SettingsSubscribers(logger);
  const settingsSwitch = new SettingsSwitch(live, subscribers, secrets, logger);
  // No one listens to this signal: the deliverer finds the event at its next poll, within a second.
  const events = new EventStore(database, new EventSignal());
  const changer = new OverrideChanger(database, store, builder, settingsSwitch, events);
  const readLayers = () => loadSettings({ environment, file: loaded.file, checks }).layers;
  const file = () => settingsFile(environment, loaded.file);
  const parts = { live, subscribers, settingsSwitch, changer, builder, store, box, file, readLayers };
  return { configuration: new Configuration(parts), changer, store };
}
