import type { GatewaySettings } from './settings.schema.js';

/**
 * The settings in force. Read `current` at the moment of use: a change of the configuration replaces the whole object.
 */
export abstract class Settings {
  abstract readonly current: GatewaySettings;
}

/** Settings that never change. */
export class FixedSettings extends Settings {
  constructor(readonly current: GatewaySettings) {
    super();
  }
}
