import { parentPort, workerData } from 'node:worker_threads';
import { PluginProgram } from './plugin-program.js';
import type { CallOrder, ThreadStart } from './thread-messages.js';

// The entry point of a plugin's thread: describes its tools once, then answers one call after the other.

const program = new PluginProgram(workerData as ThreadStart, (message) => parentPort?.postMessage(message));
program.run('describe', '');
parentPort?.on('message', ({ input }: CallOrder) => program.run('call', input));
