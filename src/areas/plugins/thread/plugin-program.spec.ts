import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { call, i32, i64, unreachable, writtenModule } from '../../../../test/harness/written-module.js';
import { limitModule } from '../module/limit-module.js';
import { EXTISM_MODULE } from './extism-imports.js';
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

/** A program of which one call runs this code, as it runs in its thread; `answer` is what the gateway does about HTTP. */
function program(code: readonly number[], answer?: HttpOutcome) {
  const { port1, port2 } = new MessageChannel();
  ports.push(port1, port2);
  const httpSignal = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  const told: ThreadMessage[] = [];
  const module = limitModule(
    writtenModule({
      imports,
      functions: { describe: { type: '>i', code: i32(0) }, call: { type: '>i', code } },
    }),
    1_048_576,
  );
  const start = { module, grants: ALL, config: {}, bufferBytes: 1_048_576, httpAnswers: port2, httpSignal };
  const made = new PluginProgram(start, (message) => {
    told.push(message);
    if (message.kind !== 'http') return;
    if (answer !== undefined) port1.postMessage(answer);
    // Sleeping where it was told in the middle of its own call, it wakes only by this.
    setSignal(httpSignal);
  });
  return { made, told };
}

/** As another thread would: the number differs from the one that is waited for at. */
function setSignal(shared: SharedArrayBuffer): void {
  Atomics.add(new Int32Array(shared), 0, 1);
}

test('answers what it was told to describe and to call, with the memory it takes', () => {
  const { made, told } = program(i32(0));
  made.run('describe', '');
  made.run('call', '{}');
  const answer = { kind: 'answer', output: '', memoryBytes: 131_072 };
  expect(told).toEqual([answer, answer]);
});

test('a call that fails is told as a problem, and the next one is answered', () => {
  const { made, told } = program(unreachable);
  made.run('call', '{}');
  made.run('describe', '');
  expect(told).toMatchObject([{ kind: 'problem', problem: 'it failed: unreachable' }, { kind: 'answer' }]);
});

test('a module that cannot be run is a problem each time it is asked, and takes no memory', () => {
  const { port1, port2 } = new MessageChannel();
  ports.push(port1, port2);
  const told: ThreadMessage[] = [];
  const made = new PluginProgram(
    {
      ...{ module: Uint8Array.of(1, 2, 3), grants: ALL, config: {}, bufferBytes: 65_536 },
      ...{ httpAnswers: port2, httpSignal: new SharedArrayBuffer(4) },
    },
    (message) => told.push(message),
  );
  made.run('describe', '');
  made.run('call', '{}');
  expect(told).toMatchObject([
    { kind: 'problem', memoryBytes: 0 },
    { kind: 'problem', memoryBytes: 0 },
  ]);
});

test('what it logs is told at once', () => {
  const { made, told } = program([...call(INPUT), ...call(LOG), ...i32(0)]);
  made.run('call', 'here I am');
  expect(told[0]).toEqual({ kind: 'log', level: 'info', text: 'here I am' });
});

describe('an HTTP request', () => {
  const request = JSON.stringify({ url: 'http://pot.test/' });
  /** Answers with the status, which shows what the request brought. */
  const code = [...call(INPUT), ...i64(0), ...call(HTTP), 0x1a, ...call(5)];

  test('is handed to the gateway, and its answer is there when the plugin goes on', () => {
    const { made, told } = program(code, { status: 418, headers: {}, body: Uint8Array.of(1) });
    made.run('call', request);
    expect(told).toMatchObject([
      { kind: 'http', request: { url: 'http://pot.test/', method: 'GET' } },
      { kind: 'problem', problem: 'it answered with code 418' },
    ]);
  });

  test('that the gateway woke it from without an answer failed', () => {
    const { made, told } = program(code);
    made.run('call', request);
    expect(told[1]).toMatchObject({ problem: 'it failed: the request brought no answer' });
  });
});
