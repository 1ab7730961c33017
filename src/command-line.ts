import { runCommandLine } from './cli/run-command-line.js';

/** What `bin/agent-gateway.js` runs. Only `serve` loads the gateway itself: every other command starts without it. */
export function main(args: readonly string[]): Promise<void> {
  return runCommandLine(args, async (request) => {
    const { startGateway } = await import('./start-gateway.js');
    return startGateway(request);
  });
}
