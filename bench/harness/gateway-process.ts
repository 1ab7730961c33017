import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { mintToken } from '../../src/platform/tokens/token-format.js';
import { type Children, failedStart, pidOf } from './children.js';
import { freePort } from './free-port.js';
import type { Target } from './target.js';

const START_LIMIT_MS = 60_000;
const POLL_MS = 5;
/** Out of the way: no benchmark is about refusals. */
/** One for all: a second build on the same database would end the token that the first was given. */
const TOKEN = mintToken();
const NO_LIMIT = '1000000';
const OWN_FOLDER = fileURLToPath(new URL('../../..', import.meta.url));

export interface GatewayOptions {
  /** Where it keeps its files, and its database unless `databaseUrl` says another. */
  readonly dataDir: string;
  readonly databaseUrl?: string;
  /** Base URL of an OpenAI-compatible provider; the offline one answers without. */
  readonly providerUrl?: string | undefined;
  /** `GATEWAY__…` variables on top. */
  readonly environment?: Readonly<Record<string, string>>;
  /** The checkout whose build runs; this one unless told. */
  readonly checkout?: string | undefined;
}

/** The real thing: `agent-gateway serve` from the build, in a process of its own. */
export interface GatewayProcess extends Target {
  readonly portB: number;
  readonly operationsPort: number;
  readonly token: string;
  /** From the start of the process to the first 200 of `/readyz`. */
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

/** With BENCH_PROFILE=<folder> every gateway leaves a CPU profile there. */
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
    // As on the embedded database, which these databases stand for; `rate-limits` measures the other store.
    GATEWAY__RATE_LIMITS__STORE: 'memory',
    // Nobody stands before these that would have to notice a stop.
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
