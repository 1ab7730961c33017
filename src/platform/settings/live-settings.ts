import { Settings } from './settings.js';
import type { GatewaySettings } from './settings.schema.js';
import type { SettingsSnapshot } from './settings-snapshot.js';

/** The settings of a running gateway, replaced as a whole and at once; only `SettingsSwitch` does so. */
export class LiveSettings extends Settings {
  constructor(private inForce: SettingsSnapshot) {
    super();
  }

  override get current(): GatewaySettings {
    return this.inForce.current;
  }

  get snapshot(): SettingsSnapshot {
    return this.inForce;
  }

  publish(snapshot: SettingsSnapshot): void {
    this.inForce = snapshot;
  }
}
