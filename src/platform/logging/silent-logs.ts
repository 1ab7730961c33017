import { type Logger, Logs } from './logger.js';

const nothing = (): void => undefined;
const silentLogger: Logger = { trace: nothing, debug: nothing, info: nothing, warn: nothing, error: nothing };

class SilentLogs extends Logs {
  for(): Logger {
    return silentLogger;
  }

  setLevel(): void {
    // There is nothing to be more or less silent about.
  }

  copyTo(): void {
    // No line is ever written.
  }
}

/** For commands whose standard output is their result. */
export const silentLogs: Logs = new SilentLogs();
