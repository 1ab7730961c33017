import { join } from 'node:path';
import { type Ended, ProcessBench } from '../harness/gateway-process.js';

// Starts take long on a busy machine.
jest.setTimeout(120_000);

const bench = new ProcessBench();
afterAll(() => bench.clear());

/**
 * Runs a gateway that on SIGUSR2 writes a line at info (it is asked to stop) and at once ends in the way that `how`
 * says.
 */
async function endsBy(how: string): Promise<Ended> {
  const last = `process.on('SIGUSR2', () => { process.emit('SIGTERM', 'SIGTERM'); ${how} })`;
  const gateway = await bench.serve({
    env: {
      GATEWAY_DATA_DIR: join(await bench.folder(), 'data'),
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(last)}`,
    },
  });
  gateway.kill('SIGUSR2');
  return gateway.ended;
}

function messagesOf({ stdout }: Ended): string[] {
  const lines = stdout.trim().split('\n');
  return lines.map((line) => (JSON.parse(line) as { message: string }).message);
}

const ASKED = 'asked to stop: running work is finished first; a second signal interrupts it';

describe('the last lines of a process are on its standard output', () => {
  test('when it exits in the moment in which it wrote them', async () => {
    const ended = await endsBy('process.exit(7)');
    expect(ended.code).toBe(7);
    expect(messagesOf(ended).at(-1)).toBe(ASKED);
  });

  test('when an uncaught error ends it, in their order', async () => {
    const ended = await endsBy("throw new Error('a fault')");
    expect(ended.code).toBe(1);
    const messages = messagesOf(ended);
    const fault = 'the gateway stops because of an uncaught error';
    expect(messages.filter((message) => [ASKED, fault].includes(message))).toEqual([ASKED, fault]);
  });

  test('when SIGTERM stops it', async () => {
    const ended = await endsBy('');
    expect(ended.code).toBe(0);
    expect(messagesOf(ended)).toContain(ASKED);
  });
});
