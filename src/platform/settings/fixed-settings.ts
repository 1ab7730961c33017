import { Settings } from './settings.js';
import type { GatewaySettings } from './settings.schema.js';

/** Settings that never change. */
export class FixedSettings extends Settings {
  constructor(readonly current: GatewaySettings) {
    super();
  }
}
