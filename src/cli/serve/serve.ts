import { type StartedGateway, startGateway } from '../../main.js';
import { consoleLines } from '../../platform/logging/console-lines.js';
import type { Logger } from '../../platform/logging/logger.js';
import { PinoLogs } from '../../platform/logging/pino-logs.js';
import { Redactor } from '../../platform/logging/redactor.js';
import { checkedSettings } from '../checked-settings.js';
import type { CommandContext } from '../command-context.js';
import { CommandFailed } from '../command-failed.js';
import { announce } from './announcement.js';
import { collectGarbageEarly } from './heap-growth.js';
import { StopRequests } from './stop-requests.js';

/** Runs a gateway until it is asked to stop. Throws what stopped the start, or `CommandFailed` after a fault. */
export async function serve(context: CommandContext): Promise<void> {
  collectGarbageEarly();
  const loaded = checkedSettings(context);
  const redactor = new Redactor();
  const { level, format } = loaded.settings.logging;
  const write = consoleLines(format, process.stdout.isTTY, (line) => context.terminal.out(line));
  const logs = new PinoLogs({ level, redactor, write });
  const logger = logs.for('gateway');
  const requests = StopRequests.listen(logger, process);
  const { environment } = context;
  const start = { environment, loaded, logs, redactor, signal: requests.stop };
  const gateway = await startGateway(start).catch((error: unknown) => {
    logger.debug('the start failed', { stack: error instanceof Error ? error.stack : String(error) });
    if (!requests.wasAsked) throw error;
  });
  if (gateway === undefined) {
    logger.info('stopped before the start was done');
    return;
  }
  const screens = { out: process.stdout.isTTY, err: process.stderr.isTTY };
  await announce(context, { loaded, gateway }, { screens, logger });
  await stopWhenAsked(gateway, requests, logger);
  if (requests.hadFault) throw new CommandFailed();
}

async function stopWhenAsked(gateway: StartedGateway, requests: StopRequests, logger: Logger): Promise<void> {
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
