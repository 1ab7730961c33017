import type { Environment } from '../platform/settings/environment.js';
import type { StartGateway } from './serve/served-gateway.js';
import type { Terminal } from './terminal.js';

/** What every command receives. A command returns when it is done and throws when it failed. */
export interface CommandContext {
  readonly environment: Environment;
  readonly terminal: Terminal;
  readonly startGateway: StartGateway;
  /** The file of `--config`, once the command line has been parsed. */
  configFile(): string | undefined;
}
