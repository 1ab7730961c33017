import { readFileSync } from 'node:fs';
import { mintToken } from '../../src/platform/tokens/token-format.js';
import { createTestDatabase, type TestDatabase } from '../harness/database.js';
import { figure } from '../harness/figure.js';
import { type GatewayProcess, ProcessBench } from '../harness/gateway-process.js';
import { wires } from '../harness/provider-wires.js';
import {
  HOSTILITIES,
  type HostileProvider,
  type Hostility,
  startHostileProvider,
} from './support/hostile-provider.js';
import { type Ending, TurnCaller, WAYS, type Way } from './support/hostile-turns.js';

const FIRST_BYTE_MS = 3000;
const IDLE_MS = 4000;
const TURN_MS = 7000;
const TOLERANCE_MS = 1000;
/** A timer may be early by its rounding. */
const TIMER_MS = 10;
const MEGABYTE = 1_048_576;
const KINDS = wires.map(({ kind }) => kind);
const TOKEN = mintToken();

/** Status, reason and time of the end; no time where no deadline ends the turn. */
const ENDINGS: Readonly<Record<Hostility, readonly [number, string, number?]>> = {
  'never-answers': [504, 'provider_first_byte_timeout', FIRST_BYTE_MS],
  'drips-its-head': [504, 'provider_first_byte_timeout', FIRST_BYTE_MS],
  'falls-silent': [504, 'provider_idle_timeout', IDLE_MS],
  'drips-a-frame': [504, 'provider_idle_timeout', IDLE_MS],
  'comments-for-ever': [504, 'turn_timeout', TURN_MS],
  'resets-at-once': [502, 'provider_unreachable', 0],
  'resets-amid': [502, 'provider_stream_cut', 0],
  'floods-text': [502, 'provider_answer_too_large'],
  'floods-without-an-event': [502, 'provider_answer_too_large'],
  'floods-its-head': [502, 'provider_unreachable'],
};

const FLOODS = HOSTILITIES.filter((one) => one.startsWith('floods'));
const isLinux = process.platform === 'linux';
const ifLinux = isLinux ? test : test.skip;

const processes = new ProcessBench();
let provider: HostileProvider;
let database: TestDatabase;
let gateways: readonly TestedGateway[];
/** By the content of the message. */
const endings = new Map<string, Ending>();

/** A gateway that speaks one wire, and a session beside the hostile ones. */
interface TestedGateway {
  readonly kind: string;
  readonly served: GatewayProcess;
  readonly caller: TurnCaller;
  readonly turnsMs: { readonly before: number[]; readonly during: number[] };
  readonly residentMb: { readonly before: number; readonly during: number[] };
}

beforeAll(async () => {
  provider = await startHostileProvider();
  database = await createTestDatabase();
  gateways = await Promise.all(KINDS.map((kind) => startTested(kind)));
  await Promise.all(gateways.map((gateway) => runEverything(gateway)));
}, 120_000);
afterAll(async () => {
  await processes.clear();
  await provider.scripted.stop();
  await database.drop();
});

async function startTested(kind: string): Promise<TestedGateway> {
  const { url } = provider.scripted;
  const served = await processes.serve({
    env: {
      DATABASE_URL: database.url,
      GATEWAY_MASTER_KEY: 'a master key that only tests may use',
      GATEWAY_BOOTSTRAP_TOKEN: TOKEN,
      GATEWAY__PROVIDER__KIND: kind,
      GATEWAY__PROVIDER__API_KEY: 'key-of-a-hostile-provider',
      GATEWAY__PROVIDER__BASE_URL: kind === 'openai' ? `${url}/v1` : url,
      GATEWAY__PROVIDER__MODEL: 'm',
      GATEWAY__PROVIDER__MAX_RETRIES: '0',
      GATEWAY__AGENT__FIRST_BYTE_TIMEOUT_MS: String(FIRST_BYTE_MS),
      GATEWAY__AGENT__IDLE_TIMEOUT_MS: String(IDLE_MS),
      GATEWAY__AGENT__TURN_TIMEOUT_MS: String(TURN_MS),
      GATEWAY__RATE_LIMITS__SESSIONS_WRITE: '100000',
    },
  });
  const caller = new TurnCaller(served.b, TOKEN);
  const before: number[] = [];
  const sessionId = await caller.session();
  for (let time = 0; time < 40; time += 1) before.push(await caller.talk(sessionId));
  return {
    ...{ kind, served, caller },
    turnsMs: { before: before.slice(20), during: [] },
    residentMb: { before: residentMb(served), during: [] },
  };
}

/** Runs every hostility at once, but floods one after the other, beside a session whose turns go on. */
async function runEverything({
  kind,
  served,
  caller,
  turnsMs,
  residentMb: mb,
}: TestedGateway): Promise<void> {
  const failingTurn = async (hostility: Hostility, way: Way): Promise<void> => {
    const content = `${hostility} ${kind} ${way}`;
    endings.set(content, await caller.failingTurn(content, way));
  };
  const floods = async (): Promise<void> => {
    for (const flood of FLOODS) for (const way of WAYS) await failingTurn(flood, way);
  };
  const others = HOSTILITIES.filter((one) => !FLOODS.includes(one));
  const over = new AbortController();
  const running = Promise.all([
    floods(),
    ...others.flatMap((hostility) => WAYS.map((way) => failingTurn(hostility, way))),
  ]).finally(() => over.abort());
  const sessionId = await caller.session();
  while (!over.signal.aborted) {
    turnsMs.during.push(await caller.talk(sessionId));
    mb.during.push(residentMb(served));
  }
  await running;
}

function residentMb({ pid }: GatewayProcess): number {
  if (!isLinux) return 0;
  const [, kilobytes = '0'] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) / 1024;
}

const median = (values: readonly number[]): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;

function gatewayOf(kind: string): TestedGateway {
  const found = gateways.find((one) => one.kind === kind);
  if (found === undefined) throw new Error(`No gateway speaks ${kind}.`);
  return found;
}

describe.each(KINDS)('a provider on the %s wire that', (kind) => {
  describe.each(HOSTILITIES)('%s', (hostility) => {
    const [status, reason, afterMs] = ENDINGS[hostility];

    test.each(WAYS)(`ends over %s as ${reason}, and the turn has failed`, async (way) => {
      const ending = endings.get(`${hostility} ${kind} ${way}`);
      expect(ending).toMatchObject({ status: way === 'http' ? status : undefined, reason });
      const turns = await database.query(`SELECT status, reason FROM turns WHERE session_id = $1`, [
        ending?.sessionId,
      ]);
      expect(turns).toEqual([{ status: 'failed', reason }]);
    });

    if (afterMs !== undefined) {
      test(`ends after ${afterMs} ms, within a second`, () => {
        // The slowest ordinary turn meanwhile shows how slow the machine was, so it is not counted against the
        // deadline.
        const tolerance = TOLERANCE_MS + Math.max(...gatewayOf(kind).turnsMs.during);
        for (const way of WAYS) {
          const content = `${hostility} ${kind} ${way}`;
          const { saidAt = Number.NaN, at = Number.NaN } = endings.get(content) ?? {};
          expect(at - saidAt).toBeGreaterThan(afterMs - TIMER_MS);
          expect(at - provider.since(content)).toBeLessThan(afterMs + tolerance);
        }
      });
    }
  });

  test('floods: it is cut long before its hundred megabytes', () => {
    for (const hostility of FLOODS) {
      for (const way of WAYS) {
        const bytes = provider.flooded(`${hostility} ${kind} ${way}`);
        expect(bytes).toBeGreaterThan(0);
        expect(bytes).toBeLessThan(50 * MEGABYTE);
      }
    }
  });

  ifLinux('floods: nine hundred megabytes in all do not take 150', () => {
    const { before, during } = gatewayOf(kind).residentMb;
    expect(Math.max(...during) - before).toBeLessThan(150);
  });

  test('does all this at once: another session keeps its latency', () => {
    const { before, during } = gatewayOf(kind).turnsMs;
    figure(['own-calls-only'], {
      what: `${HOSTILITIES.length * WAYS.length} turns at hostile providers (${kind})`,
      median_turn_ms_before: Math.round(median(before)),
      meanwhile: Math.round(median(during)),
    });
    expect(during.length).toBeGreaterThan(10);
    expect(median(during)).toBeLessThan(median(before) * 5 + 50);
  });

  test('did all this: the sessions that it failed are answered again', async () => {
    const { caller } = gatewayOf(kind);
    for (const hostility of HOSTILITIES) {
      await caller.talk(endings.get(`${hostility} ${kind} http`)?.sessionId ?? '');
    }
  });
});
