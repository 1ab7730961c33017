import { Settings } from './settings.js';
import type { GatewaySettings } from './settings.schema.js';

/** Settings that do not change while the process runs. */
export class FixedSettings extends Settings {
  constructor(readonly current: GatewaySettings) {
    super();
  }
}
