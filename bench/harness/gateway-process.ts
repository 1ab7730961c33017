import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { mintToken } from '../../src/platform/tokens/token-format.js';
import { type Children, failedStart, pidOf } from './children.js';
import { freePort } from './free-port.js';
import type { Target } from './target.js';

const START_LIMIT_MS = 60_000;
const POLL_MS = 5;
/** The same for all: a second build on the same database would revoke the token of the first. */
const TOKEN = mintToken();
/** High enough never to be reached: no benchmark is about refusals. */
const NO_LIMIT = '1000000';
const OWN_FOLDER = fileURLToPath(new URL('../../..', import.meta.url));

export interface GatewayOptions {
  /** Its files, and its database unless `databaseUrl` names another one. */
  readonly dataDir: string;
  readonly databaseUrl?: string;
  /** Base URL of an OpenAI-compatible provider. Without one, the offline provider answers. */
  readonly providerUrl?: string | undefined;
  /** Additional `GATEWAY__…` variables. */
  readonly environment?: Readonly<Record<string, string>>;
  /** The checkout whose build runs; by default this one. */
  readonly checkout?: string | undefined;
}

/** The real gateway, `agent-gateway serve` from the build, as a separate process. */
export interface GatewayProcess extends Target {
  readonly portB: number;
  readonly operationsPort: number;
  readonly token: string;
  /** From the start of the process to the first 200 from `/readyz`. */
  readonly readyAfterMs: number;
}

export async function startGateway(
  children: Children,
  options: GatewayOptions,
  logFile: string,
): Promise<GatewayProcess> {
  const ports = { a: await freePort(), b: await freePort(), operations: await freePort() };
  const token = TOKEN;
  const startedAt = performance.now();
  const child = children.start({
    args: [...nodeOptions(), join(options.checkout ?? OWN_FOLDER, 'bin/agent-gateway.js'), 'serve'],
    environment: { ...variables(options), ...portVariables(ports), GATEWAY_BOOTSTRAP_TOKEN: token },
    logFile,
  });
  await Promise.race([untilReady(ports.operations), failedStart(child, logFile)]);
  return {
    name: options.checkout ?? 'gateway',
    pid: pidOf(child),
    port: ports.a,
    portB: ports.b,
    operationsPort: ports.operations,
    token,
    headers: { Authorization: `Bearer ${token}` },
    readyAfterMs: performance.now() - startedAt,
    stop: () => children.stop(child),
  };
}

/** With BENCH_PROFILE=<folder> every gateway writes a CPU profile there. */
function nodeOptions(): string[] {
  const folder = process.env['BENCH_PROFILE'];
  return folder ? ['--cpu-prof', `--cpu-prof-dir=${folder}`] : [];
}

function variables({
  dataDir,
  databaseUrl,
  providerUrl,
  environment,
}: GatewayOptions): Record<string, string> {
  const limits = ['SESSIONS_WRITE', 'SESSIONS_READ', 'CONFIG_WRITE', 'OTHER'];
  return {
    GATEWAY_DATA_DIR: dataDir,
    ...(databaseUrl === undefined ? {} : { GATEWAY__DATABASE__URL: databaseUrl }),
    GATEWAY__PROVIDER__KIND: providerUrl === undefined ? 'offline' : 'openai',
    ...(providerUrl === undefined ? {} : { GATEWAY__PROVIDER__BASE_URL: providerUrl }),
    ...Object.fromEntries(limits.map((tier) => [`GATEWAY__RATE_LIMITS__${tier}`, NO_LIMIT])),
    // The default with an embedded database, which these databases stand for. `rate-limits` measures the other store.
    GATEWAY__RATE_LIMITS__STORE: 'memory',
    // No load balancer has to notice that it stops.
    GATEWAY__GATEWAY__DRAIN_GRACE_MS: '0',
    GATEWAY__LOGGING__LEVEL: 'info',
    ...environment,
  };
}

function portVariables({ a, b, operations }: { a: number; b: number; operations: number }) {
  return {
    GATEWAY__GATEWAY__PROFILE_A_PORT: String(a),
    GATEWAY__GATEWAY__PORT: String(b),
    GATEWAY__GATEWAY__MANAGEMENT_PORT: String(operations),
  };
}

async function untilReady(port: number): Promise<void> {
  const deadline = performance.now() + START_LIMIT_MS;
  while (performance.now() < deadline) {
    const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined);
    if (answer?.status === 200) return;
    await sleep(POLL_MS);
  }
  throw new Error(`The gateway was not ready within ${START_LIMIT_MS / 1000} s.`);
}
