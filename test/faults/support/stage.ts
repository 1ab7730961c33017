import { mintToken } from '../../../src/platform/tokens/token-format.js';
import { FaultProxy } from '../../harness/fault-proxy.js';
import { ProcessBench } from '../../harness/gateway-process.js';
import { HookReceiver } from '../../harness/hook-receiver.js';
import { McpBench } from '../../harness/mcp.js';
import { type ScriptedProvider, startScriptedProvider } from '../../harness/scripted-provider.js';
import { providerEnv } from '../../harness/turn-stream.js';
import { GatewayPlace } from './gateway-place.js';
import { notingModel } from './noting-model.js';
import type { Query } from './own-database.js';
import { ToolLedger } from './tool-ledger.js';

/** A database for a stage, whoever runs it. */
export interface StageDatabase {
  /** The environment of each gateway, given the stage's folder. */
  readonly env: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly ways: ReadonlyMap<string, FaultProxy>;
  /** Stops it without notice, and waits until it answers again. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

const NO_LIMITS = Object.fromEntries(
  ['SESSIONS_WRITE', 'SESSIONS_READ', 'CONFIG_WRITE', 'OTHER'].map((tier) => [
    `GATEWAY__RATE_LIMITS__${tier}`,
    '1000000',
  ]),
);

interface Parts {
  readonly bench: ProcessBench;
  readonly database: StageDatabase;
  readonly provider: ScriptedProvider;
  readonly receiver: HookReceiver;
  readonly tools: ToolLedger;
  readonly servers: McpBench;
  readonly ways: ReadonlyMap<string, FaultProxy>;
}

/**
 * Gateways, their database, a model provider and a receiver of webhooks. Each connection between them goes through a
 * fault proxy.
 */
export class Stage {
  readonly token = mintToken();
  readonly places: readonly GatewayPlace[];
  readonly tools: ToolLedger;
  readonly receiver: HookReceiver;
  readonly query: Query;

  private constructor(
    gateways: number,
    private readonly parts: Parts,
  ) {
    this.tools = parts.tools;
    this.receiver = parts.receiver;
    this.query = parts.database.query;
    const env = this.env();
    this.places = Array.from(
      { length: gateways },
      (_, n) => new GatewayPlace(`gateway-${n}`, parts.bench, env, this.token),
    );
  }

  static async open(
    gateways: number,
    openDatabase: (bench: ProcessBench) => Promise<StageDatabase>,
  ): Promise<Stage> {
    const bench = new ProcessBench();
    const [database, provider, receiver, tools] = await Promise.all([
      openDatabase(bench),
      startScriptedProvider(),
      HookReceiver.open(),
      ToolLedger.start(),
    ]);
    provider.script(notingModel(Math.random, 60));
    const servers = await McpBench.make({ ledger: { transport: 'http', url: tools.url } });
    const ways = new Map([
      ...database.ways,
      ['provider', await FaultProxy.to(provider.url)] as const,
      ['receiver', await FaultProxy.to(receiver.url(''))] as const,
    ]);
    const stage = new Stage(gateways, { bench, database, provider, receiver, tools, servers, ways });
    await Promise.all(stage.places.map((place) => place.start()));
    return stage;
  }

  get ways(): ReadonlyMap<string, FaultProxy> {
    return this.parts.ways;
  }

  way(name: string): FaultProxy {
    const way = this.ways.get(name);
    if (way === undefined) throw new Error(`There is no way to ${name}.`);
    return way;
  }

  restartDatabase(): Promise<void> {
    return this.parts.database.restart();
  }

  async close(): Promise<void> {
    const { bench, database, provider, receiver, tools, servers, ways } = this.parts;
    await Promise.all(this.places.map((place) => place.end()));
    for (const way of ways.values()) await way.cut();
    await database.close();
    await bench.clear();
    await Promise.all([provider.stop(), receiver.close(), tools.stop(), servers.clear()]);
  }

  private env(): Record<string, string> {
    return {
      ...this.parts.database.env,
      ...this.parts.servers.env,
      ...providerEnv({ url: this.way('provider').url }),
      ...NO_LIMITS,
      GATEWAY_BOOTSTRAP_TOKEN: this.token,
      GATEWAY_MASTER_KEY: 'a master key that only tests may use',
      GATEWAY__SECURITY__ALLOW_LOOPBACK: 'always',
      GATEWAY__HOOKS__TIMEOUT_MS: '1000',
      GATEWAY__AGENT__MAX_WAITING: '100',
      GATEWAY__LOGGING__STORE_LEVEL: 'warn',
    };
  }
}
