import { ToolRegistry } from '../../src/areas/tools/tool-registry.js';
import { AccessLog } from '../../src/http/access-log/access-log.js';
import type { ProfileId } from '../../src/http/profiles/profile.js';
import { JsonLogs } from '../../src/platform/logging/json-logs.js';
import { Redactor } from '../../src/platform/logging/redactor.js';
import { Environment } from '../../src/platform/settings/environment.js';
import { loadSettings } from '../../src/platform/settings/settings-loader.js';
import type { GrantedScope } from '../../src/platform/tokens/scopes.js';
import { TokensService } from '../../src/platform/tokens/tokens.service.js';
import { type StartedGateway, startGateway } from '../../src/start-gateway.js';
import { watchAnswers } from './answer-watch.js';
import { createTestDatabase, type TestDatabase } from './database.js';
import { DocumentedAnswers } from './documented.js';
import { FEW_CONNECTIONS } from './gateway-process.js';
import { HttpCaller } from './http-caller.js';

export interface TestGatewayOptions {
  /** `GATEWAY__SECTION__KEY` and other variables. */
  readonly env?: Readonly<Record<string, string>>;
  /** An existing database; by default a new one, which is dropped with the gateway. */
  readonly database?: TestDatabase;
}

/** A complete gateway on free ports of loopback, in this process. */
export interface TestGateway {
  /** Callers at `/api/v1` of each profile, with a token that has every scope. */
  readonly a: HttpCaller;
  readonly b: HttpCaller;
  /** The same at `/admin/v1`, on the port of Profile A. */
  readonly admin: HttpCaller;
  readonly operations: HttpCaller;
  readonly token: string;
  readonly database: TestDatabase;
  readonly started: StartedGateway;
  readonly tools: ToolRegistry;
  /** The lines it logged so far. */
  readonly logLines: readonly string[];
  caller(profile: ProfileId, token: string | undefined): HttpCaller;
  adminCaller(token: string | undefined, port?: ProfileId): HttpCaller;
  mint(options?: {
    scopes?: readonly GrantedScope[];
    user?: string;
    expiresAt?: Date;
    agents?: readonly string[];
    name?: string;
  }): Promise<string>;
  stop(): Promise<void>;
}

/** Limits that no test reaches by accident. */
const ROOMY = {
  GATEWAY__RATE_LIMITS__SESSIONS_WRITE: '100000',
  GATEWAY__RATE_LIMITS__SESSIONS_READ: '100000',
  GATEWAY__RATE_LIMITS__CONFIG_WRITE: '100000',
  GATEWAY__RATE_LIMITS__OTHER: '100000',
};
/** The same for all tests, so that several gateways on one database can open each other's secrets. */
const MASTER_KEY = 'a master key that only tests may use';
const LOOPBACK_RECEIVERS = { GATEWAY__SECURITY__ALLOW_LOOPBACK: 'always' };
/** No load balancer has to notice that a test's gateway stops. */
const NO_GRACE = { GATEWAY__GATEWAY__DRAIN_GRACE_MS: '0' };
const FREE_PORTS = {
  GATEWAY__GATEWAY__PORT: '0',
  GATEWAY__GATEWAY__PROFILE_A_PORT: '0',
  GATEWAY__GATEWAY__MANAGEMENT_PORT: '0',
};

/** Shown when a test fails (scripts/jest-environment.cjs). */
const allLogs: string[][] = [];
Object.assign(globalThis, { gatewayLogs: allLogs });

export async function startTestGateway(options: TestGatewayOptions = {}): Promise<TestGateway> {
  const database = options.database ?? (await createTestDatabase());
  const environment = new Environment({
    DATABASE_URL: database.url,
    GATEWAY_MASTER_KEY: MASTER_KEY,
    ...LOOPBACK_RECEIVERS,
    ...FREE_PORTS,
    ...NO_GRACE,
    ...FEW_CONNECTIONS,
    ...ROOMY,
    ...options.env,
  });
  const loaded = loadSettings({ environment });
  const logLines: string[] = [];
  allLogs.push(logLines);
  const redactor = new Redactor();
  const logs = new JsonLogs({
    level: loaded.settings.logging.level,
    redactor,
    write: (line) => logLines.push(line),
  });
  const started = await startGateway({ environment, loaded, logs, redactor });
  const undocumented = watchAnswers(started.app.get(AccessLog));
  const tokens = started.app.get(TokensService, { strict: false });
  const mint: TestGateway['mint'] = async ({
    scopes = ['*' as const],
    user,
    expiresAt,
    agents,
    name = 'test',
  } = {}) =>
    (
      await tokens.create({
        name,
        scopes,
        boundUserId: user ?? null,
        expiresAt: expiresAt ?? null,
        ...(agents !== undefined && { agents }),
      })
    ).secret;
  const token = await mint();
  const caller = (profile: ProfileId, presented: string | undefined) =>
    new HttpCaller(
      `http://127.0.0.1:${started.ports[profile]}/api/v1`,
      presented,
      DocumentedAnswers.of(profile),
    );
  const adminCaller = (presented: string | undefined, port: ProfileId = 'a') =>
    new HttpCaller(
      `http://127.0.0.1:${started.ports[port]}/admin/v1`,
      presented,
      DocumentedAnswers.of('admin'),
    );
  return {
    a: caller('a', token),
    b: caller('b', token),
    admin: adminCaller(token),
    adminCaller,
    operations: new HttpCaller(`http://127.0.0.1:${started.ports.operations}`, undefined),
    token,
    database,
    started,
    tools: started.app.get(ToolRegistry, { strict: false }),
    logLines,
    caller,
    mint,
    stop: async () => {
      await started.stop();
      undocumented.check();
      if (options.database === undefined) await database.drop();
    },
  };
}
