import type { Logs } from '../logging/logger.js';
import {
  type PreparedChange,
  type SettingsChange,
  type SettingsSubscriber,
  touches,
} from './settings-subscribers.js';

/** `logging.level` takes effect with the next line. */
export class LogLevelSetting implements SettingsSubscriber {
  readonly name = 'logging';

  constructor(private readonly logs: Logs) {}

  async prepare(change: SettingsChange): Promise<PreparedChange | undefined> {
    if (!touches(change, 'logging.level')) return undefined;
    return { commit: () => this.logs.setLevel(change.after.logging.level) };
  }
}
