import type { Benchmark, Row } from './benchmark.js';
import type { Bench } from './harness/bench.js';
import { type Ask, compare } from './harness/compare.js';
import { atLeast, atMost, figuresText } from './harness/rows.js';
import { HISTORY_MESSAGES, Stage } from './harness/stage.js';
import { TIMING } from './harness/timing.js';
import { deleteNewMessages, talkingSessions } from './turns/talking-sessions.js';

const CLIENTS = 64;
const WARM_UP_MS = 5000;

/** A chat completion that brings its conversation along, against the same turn in a session that has it stored. */
export const completions: Benchmark = { name: 'completions', run };

async function run(bench: Bench): Promise<readonly Row[]> {
  const stage = await Stage.open(bench, { withProvider: true });
  const paths = await talkingSessions(stage, CLIENTS);
  const { gateway: target } = stage;
  const compared = await compare(
    bench,
    {
      completion: { target, plan: () => asked(['/v1/chat/completions'], BODY) },
      turn: {
        target,
        plan: async () => {
          await deleteNewMessages(stage, paths);
          return asked(paths, '{"content":"How fast is this?"}');
        },
      },
    },
    { ...TIMING, warmUpMs: WARM_UP_MS },
  );
  await stage.close();
  const row = {
    path: `A chat completion, ${CLIENTS} clients`,
    measured: figuresText(compared.figures('completion')),
    baseline: `a turn of a session: ${figuresText(compared.figures('turn'))}`,
  };
  const cpu = compared.ratio('completion', 'turn', 'cpuMsPerRequest');
  return [
    atLeast(row, compared.ratio('completion', 'turn'), 0.75),
    ...(Number.isNaN(cpu)
      ? []
      : [atMost({ path: `${row.path}: CPU`, measured: '', baseline: '' }, cpu, 1.3, '×')]),
  ];
}

function asked(paths: readonly string[], body: string): Ask {
  return { clients: CLIENTS, method: 'POST', paths, ownPaths: paths.length > 1, body };
}

const SAID_BEFORE = Array.from({ length: HISTORY_MESSAGES }, (_, n) => ({
  role: n % 2 === 0 ? 'user' : 'assistant',
  content: 'What was said before.',
}));
const BODY = JSON.stringify({
  model: 'default',
  messages: [...SAID_BEFORE, { role: 'user', content: 'How fast is this?' }],
});
