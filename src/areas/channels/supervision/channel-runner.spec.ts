import { type LogFields, silentLogs } from '../../../platform/logging/logger.js';
import { ChannelAdapter, type ReceiverLink } from '../channel-adapter.port.js';
import { ChannelRefused, ChannelUnreachable } from '../channel-failures.js';
import { ChannelRunner } from './channel-runner.js';

type Receive = (link: ReceiverLink, signal: AbortSignal) => Promise<void>;

class ScriptedAdapter extends ChannelAdapter {
  readonly maxReplyLength = 100;

  constructor(override readonly receive: Receive) {
    super();
  }

  override async check(): Promise<void> {
    // Not called in this spec.
  }

  override send(): Promise<undefined> {
    return Promise.resolve(undefined);
  }
}

const untilAborted: Receive = (_link, signal) =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve()));

/** A runner whose connections follow the scripts in order; the last script repeats. */
function run(...scripts: Receive[]) {
  const told: string[] = [];
  const pauses: number[] = [];
  let connections = 0;
  const adapter = new ScriptedAdapter((link, signal) => {
    const script = scripts[Math.min(connections, scripts.length - 1)] ?? untilAborted;
    connections += 1;
    return script(link, signal);
  });
  const runner = new ChannelRunner({
    logger: {
      ...silentLogs.for('test'),
      warn: (_sentence: string, fields: LogFields = {}) => pauses.push(Number(fields['retry_in_ms'])),
    },
    adapter: () => Promise.resolve(adapter),
    cursor: () => Promise.resolve(null),
    conversations: () => Promise.resolve([]),
    store: () => Promise.resolve(),
    clicked: () => Promise.resolve({ isAccepted: false, text: '' }),
    write: (status, error) => {
      told.push(error === undefined ? status : `${status}: ${error}`);
      return Promise.resolve(true);
    },
    redact: (text) => text.replace('s3cret', '***'),
  });
  runner.start();
  return { runner, told, pauses, connections: () => connections };
}

const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20));
const connectAnd =
  (then: Receive): Receive =>
  (link, signal) => {
    link.connected();
    return then(link, signal);
  };

test('a connection is reported once, however often the adapter calls connected', async () => {
  const { runner, told } = run((link, signal) => {
    link.connected();
    link.connected();
    return untilAborted(link, signal);
  });
  await turn();
  await runner.stop('reconnecting');
  expect(told).toEqual(['reconnecting', 'connected', 'reconnecting']);
});

test('a refusal is final: the reason is reported without the secret, and nothing is tried again', async () => {
  const { runner, told, connections } = run(() => Promise.reject(new ChannelRefused('no s3cret of ours')));
  await turn();
  expect(told).toEqual(['reconnecting', 'disconnected: no *** of ours']);
  expect(connections()).toBe(1);
  await runner.stop('disconnected');
});

test('a restart connects again after a refusal, and clears the error', async () => {
  const { runner, told } = run(() => Promise.reject(new ChannelRefused('no')), connectAnd(untilAborted));
  await turn();
  runner.restart();
  await turn();
  await runner.stop('reconnecting');
  expect(told).toEqual(['reconnecting', 'disconnected: no', 'reconnecting', 'connected', 'reconnecting']);
});

test('after a lost connection it waits at most two seconds, or as long as the platform asks', async () => {
  const short = run(() => Promise.reject(new Error('lost')));
  await turn();
  await short.runner.stop('reconnecting');
  expect(short.told).toContain('reconnecting: lost');
  expect(short.pauses[0]).toBeLessThanOrEqual(2000);
  const long = run(() => Promise.reject(new ChannelUnreachable('busy', 30_000)));
  await turn();
  await long.runner.stop('reconnecting');
  expect(long.pauses[0]).toBeGreaterThanOrEqual(30_000);
  expect(long.connections()).toBe(1);
});

test('a status that could not be stored is stored by reportAgain', async () => {
  let isDown = true;
  const told: string[] = [];
  const runner = new ChannelRunner({
    logger: silentLogs.for('test'),
    adapter: () => Promise.resolve(new ScriptedAdapter(connectAnd(untilAborted))),
    cursor: () => Promise.resolve(null),
    conversations: () => Promise.resolve([]),
    store: () => Promise.resolve(),
    clicked: () => Promise.resolve({ isAccepted: false, text: '' }),
    write: (status) => {
      if (isDown) return Promise.reject(new Error('no database'));
      told.push(status);
      return Promise.resolve(true);
    },
    redact: (text) => text,
  });
  runner.start();
  await turn();
  isDown = false;
  runner.reportAgain();
  await turn();
  expect(told).toEqual(['connected']);
  await runner.stop('reconnecting');
});
