import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { call, i32, i64, unreachable, writtenModule } from '../../../../test/harness/written-module.js';
import { limitModule } from '../limit-module.js';
import { EXTISM_MODULE } from './extism-host.js';
import { PluginProgram } from './plugin-program.js';
import type { Grants, HttpOutcome, ThreadMessage } from './thread-messages.js';

const ALL: Grants = { config: true, kv: true, log: true, http: true };
const imports = [
  { module: EXTISM_MODULE, name: 'input_offset', type: '>I' },
  { module: EXTISM_MODULE, name: 'log_info', type: 'I>' },
  { module: EXTISM_MODULE, name: 'http_request', type: 'II>I' },
  { module: EXTISM_MODULE, name: 'length', type: 'I>I' },
  { module: EXTISM_MODULE, name: 'output_set', type: 'II>' },
  { module: EXTISM_MODULE, name: 'http_status_code', type: '>i' },
] as const;
const [INPUT, LOG, HTTP] = [0, 1, 2];

let ports: MessagePort[] = [];
afterEach(() => {
  for (const port of ports) port.close();
  ports = [];
});

/** Runs one call of this code as its thread would; `answer` is how the gateway handles its HTTP requests. */
function program(code: readonly number[], answer?: HttpOutcome) {
  const { port1, port2 } = new MessageChannel();
  ports.push(port1, port2);
  const httpSignal = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  const posted: ThreadMessage[] = [];
  const module = limitModule(
    writtenModule({
      imports,
      functions: { describe: { type: '>i', code: i32(0) }, call: { type: '>i', code } },
    }),
    1_048_576,
  );
  const start = { module, grants: ALL, config: {}, bufferBytes: 1_048_576, httpAnswers: port2, httpSignal };
  const made = new PluginProgram(start, (message) => {
    posted.push(message);
    if (message.kind !== 'http') return;
    if (answer !== undefined) port1.postMessage(answer);
    // The thread sleeps in the middle of its own call; only this wakes it.
    setSignal(httpSignal);
  });
  return { made, posted };
}

/** As another thread would: the number differs from the one that is waited for at. */
function setSignal(shared: SharedArrayBuffer): void {
  Atomics.add(new Int32Array(shared), 0, 1);
}

test('answers describe and call with the output and the memory in use', () => {
  const { made, posted } = program(i32(0));
  made.run('describe', '');
  made.run('call', '{}');
  const answer = { kind: 'answer', output: '', memoryBytes: 131_072 };
  expect(posted).toEqual([answer, answer]);
});

test('a failing call is reported as a problem, and the next one is answered', () => {
  const { made, posted } = program(unreachable);
  made.run('call', '{}');
  made.run('describe', '');
  expect(posted).toMatchObject([{ kind: 'problem', problem: 'it failed: unreachable' }, { kind: 'answer' }]);
});

test('a module that cannot run is a problem at every call and takes no memory', () => {
  const { port1, port2 } = new MessageChannel();
  ports.push(port1, port2);
  const posted: ThreadMessage[] = [];
  const made = new PluginProgram(
    {
      ...{ module: Uint8Array.of(1, 2, 3), grants: ALL, config: {}, bufferBytes: 65_536 },
      ...{ httpAnswers: port2, httpSignal: new SharedArrayBuffer(4) },
    },
    (message) => posted.push(message),
  );
  made.run('describe', '');
  made.run('call', '{}');
  expect(posted).toMatchObject([
    { kind: 'problem', memoryBytes: 0 },
    { kind: 'problem', memoryBytes: 0 },
  ]);
});

test('its log lines are posted at once', () => {
  const { made, posted } = program([...call(INPUT), ...call(LOG), ...i32(0)]);
  made.run('call', 'here I am');
  expect(posted[0]).toEqual({ kind: 'log', level: 'info', text: 'here I am' });
});

describe('an HTTP request', () => {
  const request = JSON.stringify({ url: 'http://pot.test/' });
  /** Answers with the status, which shows what the request brought. */
  const code = [...call(INPUT), ...i64(0), ...call(HTTP), 0x1a, ...call(5)];

  test('is handed to the gateway, and the response is there when the plugin continues', () => {
    const { made, posted } = program(code, { status: 418, headers: {}, body: Uint8Array.of(1) });
    made.run('call', request);
    expect(posted).toMatchObject([
      { kind: 'http', request: { url: 'http://pot.test/', method: 'GET' } },
      { kind: 'problem', problem: 'it answered with code 418' },
    ]);
  });

  test('fails when the gateway wakes the thread without a response', () => {
    const { made, posted } = program(code);
    made.run('call', request);
    expect(posted[1]).toMatchObject({ problem: 'it failed: the request brought no answer' });
  });
});
