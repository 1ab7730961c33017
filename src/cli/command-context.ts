import type { Environment } from '../platform/settings/environment.js';
import type { Terminal } from './terminal.js';

/** What every command gets. A command returns when it is done and throws when it could not do its work. */
export interface CommandContext {
  readonly environment: Environment;
  readonly terminal: Terminal;
  /** The file of `--config`, once the command line was read. */
  configFile(): string | undefined;
}
