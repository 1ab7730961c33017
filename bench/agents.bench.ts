import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Benchmark, Row } from './benchmark.js';
import type { Bench } from './harness/bench.js';
import { type Contender, compare } from './harness/compare.js';
import type { GatewayProcess } from './harness/gateway-process.js';
import { atMost, figuresText } from './harness/rows.js';
import { NEVER_SILENT } from './harness/seed.js';
import { TIMING } from './harness/timing.js';

const CLIENTS = 32;
const MANY = 100;
const SESSIONS = 200;
/** As in `turns`: V8 optimises the code of a turn after a few thousand turns. */
const WARM_UP_MS = 10_000;
/** The difference is small, and the median of a few rounds would be noise. */
const LEAST_ROUNDS = 15;

/** CPU of a turn with one agent, and with a hundred agents that share the sessions. */
export const agents: Benchmark = { name: 'agents', run };

async function run(bench: Bench): Promise<readonly Row[]> {
  const provider = await bench.provider();
  const one = await contender(bench, provider.url, 1);
  const hundred = await contender(bench, provider.url, MANY);
  const timing = { ...TIMING, rounds: Math.max(LEAST_ROUNDS, TIMING.rounds), warmUpMs: WARM_UP_MS };
  const found = await compare(bench, { one: one.contender, hundred: hundred.contender }, timing);
  await Promise.all([one.stop(), hundred.stop()]);
  await provider.stop();
  const row = {
    path: `A turn with ${MANY} agents: its CPU, more than with one`,
    measured: figuresText(found.figures('hundred')),
    baseline: `one agent: ${figuresText(found.figures('one'))}`,
  };
  return [atMost(row, (found.ratio('hundred', 'one', 'cpuMsPerRequest') - 1) * 100, 3, '%')];
}

/** A gateway with this many agents, and sessions spread over them. */
async function contender(
  bench: Bench,
  providerUrl: string,
  count: number,
): Promise<{ readonly contender: Contender; stop(): Promise<void> }> {
  const [database, dataDir] = await Promise.all([bench.database(), bench.dataDir()]);
  const names = Array.from({ length: count }, (_, index) => `agent-${index + 1}`);
  const file = join(dataDir, 'gateway.toml');
  await writeFile(file, names.map(tableOf).join('\n'));
  const gateway = await bench.gateway({
    databaseUrl: database.url,
    providerUrl,
    environment: { ...NEVER_SILENT, GATEWAY_CONFIG: file },
  });
  const paths: string[] = [];
  for (let index = 0; index < SESSIONS; index += 1)
    paths.push(`/api/v1/sessions/${await sessionOf(gateway, names[index % count] ?? '')}/messages`);
  const ask = {
    ...{ clients: CLIENTS, method: 'POST' as const, paths, ownPaths: true },
    body: '{"content":"How fast is this?"}',
  };
  return {
    contender: { target: gateway, plan: () => ask },
    stop: async () => {
      await gateway.stop();
      await database.drop();
    },
  };
}

/** Each agent has its own prompt, chain, rules and limits. */
function tableOf(name: string): string {
  return `[agents.${name}]
description = "What ${name} is for"
system_prompt = "You are ${name}."
models = ["a-model", "another-model"]
max_output_tokens = 1000
tools = { allow = ["*"], deny = ["shell__*"] }
users = ["*"]
`;
}

async function sessionOf({ headers, portB }: GatewayProcess, agent: string): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${portB}/api/v1/sessions`, {
    method: 'POST',
    headers: { ...headers, 'Content-Type': 'application/json' },
    body: JSON.stringify({ agent }),
  });
  if (!answer.ok) throw new Error(`A session was answered ${answer.status}: ${await answer.text()}`);
  return ((await answer.json()) as { id: string }).id;
}
