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
import { type Ending, Talker, WAYS, type Way } from './support/hostile-turns.js';

const FIRST_BYTE_MS = 3000;
const IDLE_MS = 4000;
const TURN_MS = 7000;
const TOLERANCE_MS = 1000;
/** A timer may be early by its rounding. */
const TIMER_MS = 10;
const MEGABYTE = 1_048_576;
const KINDS = wires.map(({ kind }) => kind);
const TOKEN = mintToken();

/** Status, reason, and after how long; undefined where no clock is to end it. */
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
let gateways: readonly Sufferer[];
/** By what was said. */
const endings = new Map<string, Ending>();

/** A gateway that speaks one wire, and how another session of it fares. */
interface Sufferer {
  readonly kind: string;
  readonly served: GatewayProcess;
  readonly talker: Talker;
  readonly turnsMs: { readonly before: number[]; readonly during: number[] };
  readonly residentMb: { readonly before: number; readonly during: number[] };
}

beforeAll(async () => {
  provider = await startHostileProvider();
  database = await createTestDatabase();
  gateways = await Promise.all(KINDS.map((kind) => startSufferer(kind)));
  await Promise.all(gateways.map((gateway) => sufferEverything(gateway)));
}, 120_000);
afterAll(async () => {
  await processes.clear();
  await provider.scripted.stop();
  await database.drop();
});

async function startSufferer(kind: string): Promise<Sufferer> {
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
  const talker = new Talker(served.b, TOKEN);
  const before: number[] = [];
  const sessionId = await talker.session();
  for (let time = 0; time < 40; time += 1) before.push(await talker.talk(sessionId));
  return {
    ...{ kind, served, talker },
    turnsMs: { before: before.slice(20), during: [] },
    residentMb: { before: residentMb(served), during: [] },
  };
}

/** Everything at once, but one flood after the other, beside a session whose turns go on. */
async function sufferEverything({ kind, served, talker, turnsMs, residentMb: mb }: Sufferer): Promise<void> {
  const suffer = async (hostility: Hostility, way: Way): Promise<void> => {
    const content = `${hostility} ${kind} ${way}`;
    endings.set(content, await talker.suffer(content, way));
  };
  const floods = async (): Promise<void> => {
    for (const flood of FLOODS) for (const way of WAYS) await suffer(flood, way);
  };
  const others = HOSTILITIES.filter((one) => !FLOODS.includes(one));
  const over = new AbortController();
  const suffering = Promise.all([
    floods(),
    ...others.flatMap((hostility) => WAYS.map((way) => suffer(hostility, way))),
  ]).finally(() => over.abort());
  const sessionId = await talker.session();
  while (!over.signal.aborted) {
    turnsMs.during.push(await talker.talk(sessionId));
    mb.during.push(residentMb(served));
  }
  await suffering;
}

function residentMb({ pid }: GatewayProcess): number {
  if (!isLinux) return 0;
  const [, kilobytes = '0'] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) / 1024;
}

const median = (values: readonly number[]): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;

function gatewayOf(kind: string): Sufferer {
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
        // What an ordinary turn took at worst meanwhile is this machine's, not the deadline's.
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

  test('did all this: the sessions it was done to are answered again', async () => {
    const { talker } = gatewayOf(kind);
    for (const hostility of HOSTILITIES) {
      await talker.talk(endings.get(`${hostility} ${kind} http`)?.sessionId ?? '');
    }
  });
});
