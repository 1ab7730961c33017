import { setTimeout as sleep } from 'node:timers/promises';
import { mintToken } from '../../src/platform/tokens/token-format.js';
import { createTestDatabase } from '../harness/database.js';
import { figure } from '../harness/figure.js';
import { freePort } from '../harness/free-port.js';
import { type GatewayProcess, ProcessBench, until } from '../harness/gateway-process.js';
import { isInstalled, startHaproxy, startNginx, type Upstream } from './support/balancers.js';
import { MixedLoad } from './support/mixed-load.js';

/** How often every process is restarted; the promise is for `ROLLING_RESTARTS=10 REPLICAS=3`. */
const RESTARTS = Number(process.env['ROLLING_RESTARTS'] ?? 1);
const REPLICAS = Number(process.env['REPLICAS'] ?? 2);
/** HAProxy notices a stop within 0.2 s, nginx when it is refused. */
const GRACE_MS = 1000;
jest.setTimeout(60_000 + RESTARTS * REPLICAS * 30_000);

const balancers = [
  ...(isInstalled('nginx') ? [startNginx] : []),
  ...(isInstalled('haproxy') ? [startHaproxy] : []),
];
/** Skipped where neither nginx nor HAProxy is installed. */
const ifBalanced = balancers.length > 0 ? test : test.skip;

const bench = new ProcessBench();
afterAll(() => bench.clear());

const LIMITS = Object.fromEntries(
  ['SESSIONS_WRITE', 'SESSIONS_READ', 'CONFIG_WRITE', 'OTHER'].map((tier) => [
    `GATEWAY__RATE_LIMITS__${tier}`,
    '1000000',
  ]),
);

async function startReplica(upstream: Upstream, env: Record<string, string>): Promise<GatewayProcess> {
  const replica = await bench.serve({
    env: {
      ...env,
      ...LIMITS,
      GATEWAY__GATEWAY__PORT: String(upstream.port),
      GATEWAY__GATEWAY__MANAGEMENT_PORT: String(upstream.operationsPort),
      GATEWAY__GATEWAY__DRAIN_GRACE_MS: String(GRACE_MS),
      GATEWAY__DATABASE__POOL_SIZE: '5',
      GATEWAY__LOGGING__FORMAT: 'json',
    },
  });
  await until(
    async () => (await fetch(`http://127.0.0.1:${upstream.operationsPort}/readyz`)).status === 200,
    10_000,
  );
  return replica;
}

ifBalanced('rolling restarts under mixed load fail no request, behind any of the balancers', async () => {
  const database = await createTestDatabase();
  const token = mintToken();
  const env = {
    DATABASE_URL: database.url,
    GATEWAY_MASTER_KEY: 'a master key that only tests may use',
    GATEWAY_BOOTSTRAP_TOKEN: token,
  };
  const upstreams = await Promise.all(
    Array.from({ length: REPLICAS }, async () => ({
      port: await freePort(),
      operationsPort: await freePort(),
    })),
  );
  const replicas = await Promise.all(upstreams.map((upstream) => startReplica(upstream, env)));
  const folder = await bench.folder();
  const started = await Promise.all(balancers.map((start) => start(folder, upstreams)));
  const loads = started.map((balancer) => new MixedLoad(balancer, token));
  const restartEach = async (): Promise<void> => {
    for (const [i, upstream] of upstreams.entries()) {
      const busyUntil = loads.map((load) => load.total + 20);
      await until(() => loads.every((load, n) => load.total >= (busyUntil[n] ?? 0)), 60_000);
      replicas[i]?.kill('SIGTERM');
      expect(await replicas[i]?.ended).toMatchObject({ code: 0 });
      replicas[i] = await startReplica(upstream, env);
      // Waits until the balancers have noticed that it is back: HAProxy says so, nginx tries again after a second.
      await until(
        async () => (await Promise.all(started.map((one) => one.seesAll()))).every(Boolean),
        60_000,
      );
      await sleep(1100);
    }
  };
  try {
    await Promise.all(loads.map((load) => load.start()));
    for (let round = 0; round < RESTARTS; round += 1) await restartEach();
  } finally {
    // Otherwise the load would go on beside every file that this worker runs next.
    await Promise.all(loads.map((load) => load.stop()));
    for (const balancer of started) balancer.stop();
  }
  for (const replica of replicas) replica.kill('SIGINT');
  await Promise.all(replicas.map((replica) => replica.ended));
  await database.drop();
  figure(['rolling-restarts'], {
    restarts: RESTARTS * REPLICAS,
    failed: loads.flatMap((load) => load.failures).length,
    ...Object.fromEntries(loads.map((load, i) => [started[i]?.name ?? '', load.total] as const)),
  });
  expect(loads.flatMap((load) => load.failures)).toEqual([]);
  for (const { done } of loads) expect(Math.min(...done.values())).toBeGreaterThan(0);
});
