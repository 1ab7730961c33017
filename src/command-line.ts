import { runCommandLine } from './cli/run-command-line.js';
import { beginStart } from './early-start.js';

/** What `bin/agent-gateway.js` runs. Only `serve` loads the gateway itself: every other command starts without it. */
export function main(args: readonly string[]): Promise<void> {
  return runCommandLine(args, async (request) => {
    const early = beginStart(request);
    await early.launched;
    const { startGateway } = await import('./start-gateway.js');
    return startGateway(request, early);
  });
}
