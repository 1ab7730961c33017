import { setFlagsFromString } from 'node:v8';
import {
  CollectedOutput,
  consoleLines,
  type LineOutput,
  type LogFormat,
} from '../../platform/logging/console-output.js';
import { JsonLogs } from '../../platform/logging/json-logs.js';
import { logConsole } from '../../platform/logging/library-console.js';
import type { Logger } from '../../platform/logging/logger.js';
import { Redactor } from '../../platform/logging/redactor.js';
import { checkedSettings } from '../checked-settings.js';
import type { CommandContext } from '../command-context.js';
import { CommandFailed } from '../exit-codes.js';
import { announce } from './announcement.js';
import type { ServedGateway } from './served-gateway.js';
import { StopRequests } from './stop-requests.js';

/** Runs a gateway until it is asked to stop. Throws what stopped the start, or `CommandFailed` after a fault. */
export async function serve(context: CommandContext): Promise<void> {
  collectGarbageEarly();
  const loaded = checkedSettings(context);
  const redactor = new Redactor();
  const { level, format } = loaded.settings.logging;
  const output = (text: string): void => context.terminal.out(text);
  const logs = new JsonLogs({ level, redactor, write: standardOutput(format, output) });
  logConsole(logs);
  const logger = logs.for('gateway');
  const requests = StopRequests.listen(logger, process);
  const { environment } = context;
  const start = { environment, loaded, logs, redactor, signal: requests.stop };
  const gateway = await context.startGateway(start).catch((error: unknown) => {
    logger.debug('the start failed', { stack: error instanceof Error ? error.stack : String(error) });
    if (!requests.wasAsked) throw error;
  });
  if (gateway === undefined) {
    logger.info('gateway stopped before its start was complete');
    return;
  }
  const screens = { out: process.stdout.isTTY, err: process.stderr.isTTY };
  await announce(context, { loaded, gateway }, { screens, logger });
  await stopWhenAsked(gateway, requests, logger);
  if (requests.hadFault) throw new CommandFailed();
}

/** A terminal gets every line at once; a file or a pipe gets the lines of a moment in one write. */
function standardOutput(format: LogFormat, write: (text: string) => void): LineOutput {
  if (process.stdout.isTTY) return consoleLines(format, true, write);
  const output = new CollectedOutput(write);
  process.on('exit', () => output.flush());
  return consoleLines(format, false, (line, rank) => output.add(line, rank));
}

async function stopWhenAsked(gateway: ServedGateway, requests: StopRequests, logger: Logger): Promise<void> {
  await fired(requests.stop);
  void fired(requests.hurry).then(() => gateway.hurry());
  try {
    await gateway.stop({ withGrace: !requests.isFromTerminal });
  } catch (error) {
    logger.error('the gateway did not stop cleanly', { error: String(error) });
    throw error;
  }
}

function fired(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** How much the old generation may grow before a collection, in percent. */
const GROWTH_PERCENT = 100;

/**
 * Keeps memory within bounds: by default V8 lets the garbage of a busy gateway grow to several times the memory in use
 * before it collects. A lower percentage saves memory and costs processor time; docs/performance.md has the figures.
 */
function collectGarbageEarly(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
}
