import { EventEmitter } from 'node:events';
import type { Logger } from '../../platform/logging/logger.js';
import { type StoppableProcess, StopRequests } from './stop-requests.js';

/** A process that emits signals and faults on demand and records how it was ended. */
class FakeProcess extends EventEmitter {
  readonly exits: number[] = [];
  exit(code?: number): never {
    this.exits.push(code ?? 0);
    return undefined as never;
  }
}

function listening() {
  const process = new FakeProcess();
  const lines: unknown[][] = [];
  const note = (...line: unknown[]) => void lines.push(line);
  const logger: Logger = { trace: note, debug: note, info: note, warn: note, error: note };
  const requests = StopRequests.listen(logger, process as unknown as StoppableProcess);
  const asked = () => ({ stop: requests.stop.aborted, hurry: requests.hurry.aborted, exits: process.exits });
  return { process, requests, lines, asked };
}

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

test('the first signal asks to stop, the second to hurry, the third ends the process', () => {
  const { process, requests, asked } = listening();
  expect(asked()).toEqual({ stop: false, hurry: false, exits: [] });
  process.emit('SIGTERM');
  expect(asked()).toEqual({ stop: true, hurry: false, exits: [] });
  expect(requests.isFromTerminal).toBe(false);
  jest.advanceTimersByTime(1000);
  process.emit('SIGINT');
  expect(asked()).toEqual({ stop: true, hurry: true, exits: [] });
  jest.advanceTimersByTime(1000);
  process.emit('SIGINT');
  expect(asked().exits).toEqual([130]);
});

test('a third SIGTERM ends the process with 143', () => {
  const { process } = listening();
  for (let count = 0; count < 3; count++) {
    process.emit('SIGTERM');
    jest.advanceTimersByTime(1000);
  }
  expect(process.exits).toEqual([143]);
});

test('the echo of a signal does not count as a second one; a closed terminal counts as the first', () => {
  const { process, asked } = listening();
  process.emit('SIGHUP');
  jest.advanceTimersByTime(100);
  process.emit('SIGHUP');
  expect(asked()).toEqual({ stop: true, hurry: false, exits: [] });
});

test.each([
  ['uncaughtException', 'an uncaught error'],
  ['unhandledRejection', 'an unhandled rejection'],
])('%s is logged with its stack, stops at once, and fails when the stop hangs', (event, words) => {
  const { process, requests, lines, asked } = listening();
  expect(requests.hadFault).toBe(false);
  const fault = new Error('boom');
  process.emit(event, fault);
  expect(requests.hadFault).toBe(true);
  expect(asked()).toEqual({ stop: true, hurry: true, exits: [] });
  expect(lines).toEqual([[`the gateway stops because of ${words}`, { stack: fault.stack }]]);
  jest.advanceTimersByTime(9999);
  expect(process.exits).toEqual([]);
  jest.advanceTimersByTime(1);
  expect(process.exits).toEqual([1]);
});
