import { closeSync, openSync, writeSync } from 'node:fs';
import type { ClaimedTurn } from '../../src/areas/turns/claimed-turn.js';
import { TurnLog } from '../../src/areas/turns/turn-log.js';
import { CollectedOutput } from '../../src/platform/logging/console-output.js';
import { JsonLogs } from '../../src/platform/logging/json-logs.js';
import { inLogContext } from '../../src/platform/logging/log-context.js';
import { Redactor } from '../../src/platform/logging/redactor.js';
import { storedLine } from '../../src/platform/logging/stored-line.js';

const LINES = 50_000;
/** Lines in one batch for the database when a few hundred turns a second end. */
const BATCH = 100;
/** Lines in one system call. */
const TOGETHER = 4;

const TURN: ClaimedTurn = {
  lease: {
    sessionId: `sess_${'0'.repeat(26)}`,
    turnId: `turn_${'0'.repeat(26)}`,
    userMessageId: 'm',
    fence: 1,
  },
  userId: 'u',
  channel: 'api',
  agent: 'default',
  systemPrompt: null,
  model: null,
  history: [],
  seq: 1,
  cut: { messages: 0, results: 0 },
  summary: undefined,
  isWatched: false,
  hasMemories: false,
};
const COST = {
  usage: { input: 1000, output: 200 },
  model: 'gpt-5.6',
  toolCalls: [],
  finishReason: 'stop',
} as const;

/**
 * CPU microseconds of the log line that each turn writes: built, redacted, written to a file, and prepared in batches
 * for the table. It is too small to be seen between two gateways under load, so it is measured alone.
 */
export function turnLineMicros(file: string): number {
  const descriptor = openSync(file, 'w');
  let waiting: { line: string; rank: number }[] = [];
  const redactor = new Redactor();
  redactor.setFor('bench', ['a secret that is looked for', 'another one, as long as a key of a provider']);
  const output = new CollectedOutput((text) => writeSync(descriptor, text));
  let lines = 0;
  const write = (line: string, rank: number): void => {
    output.add(line, rank);
    lines += 1;
    if (lines % TOGETHER === 0) output.flush();
  };
  const logs = new JsonLogs({ level: 'info', redactor, write });
  logs.copyTo((line, rank) => {
    waiting.push({ line, rank });
    if (waiting.length < BATCH) return;
    JSON.stringify(waiting.map((one) => storedLine(one.line, one.rank)));
    waiting = [];
  });
  const log = new TurnLog(logs);
  const end = (turns: number): void => {
    for (let n = 0; n < turns; n += 1) log.completed(TURN, COST, 12.3);
  };
  try {
    return inLogContext({ request_id: `req_${'0'.repeat(26)}` }, () => {
      end(LINES / 2);
      const before = process.cpuUsage();
      end(LINES);
      const { user, system } = process.cpuUsage(before);
      return (user + system) / LINES;
    });
  } finally {
    closeSync(descriptor);
  }
}
