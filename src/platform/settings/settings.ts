import type { GatewaySettings } from './settings.schema.js';

/** The configuration in force. Read `current` at the moment of use: it changes as a whole when the configuration does. */
export abstract class Settings {
  abstract readonly current: GatewaySettings;
}
