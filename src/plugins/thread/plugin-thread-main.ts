import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { sentenceOf } from '../plugin-problem.js';
import { ExtismHost } from './extism-imports.js';
import { PluginInstance } from './plugin-instance.js';
import type { CallOrder, HttpOutcome, HttpRequest, ThreadMessage, ThreadStart } from './thread-messages.js';

// What runs in the thread of a plugin: it describes its tools once, then answers one call after the other.

const { module, grants, config, bufferBytes, httpAnswers, httpSignal } = workerData as ThreadStart;
const signal = new Int32Array(httpSignal);

function tell(message: ThreadMessage): void {
  parentPort?.postMessage(message);
}

/** The only thing that a plugin waits for: the gateway makes the request, and this thread sleeps until it is told. */
function http(request: HttpRequest): HttpOutcome {
  const before = Atomics.load(signal, 0);
  tell({ kind: 'http', request });
  Atomics.wait(signal, 0, before);
  const received = receiveMessageOnPort(httpAnswers) as { message: HttpOutcome } | undefined;
  return received?.message ?? { problem: 'the request brought no answer' };
}

function answer(work: () => string, memoryBytes: () => number): void {
  try {
    const output = work();
    tell({ kind: 'answer', output, memoryBytes: memoryBytes() });
  } catch (error) {
    tell({ kind: 'problem', problem: sentenceOf(error), memoryBytes: memoryBytes() });
  }
}

const host = new ExtismHost(bufferBytes, grants, new Map(Object.entries(config)), {
  log: (level, text) => tell({ kind: 'log', level, text }),
  http,
});
let instance: PluginInstance | undefined;
const memoryBytes = (): number => instance?.memoryBytes ?? 0;

answer(() => {
  instance = PluginInstance.compile(module, host, grants);
  return instance.run('describe', '');
}, memoryBytes);

parentPort?.on('message', ({ input }: CallOrder) => {
  answer(() => instance?.run('call', input) ?? '', memoryBytes);
});
