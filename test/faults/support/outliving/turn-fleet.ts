import { setTimeout as sleep } from 'node:timers/promises';
import { mintToken } from '../../../../src/platform/tokens/token-format.js';
import { FaultProxy } from '../../../harness/fault-proxy.js';
import {
  type BegunProcess,
  type Ended,
  type GatewayProcess,
  ProcessBench,
  until,
} from '../../../harness/gateway-process.js';
import { HttpCaller } from '../../../harness/http-caller.js';
import { McpBench } from '../../../harness/mcp.js';
import { startScriptedProvider } from '../../../harness/scripted-provider.js';
import { providerEnv } from '../../../harness/turn-stream.js';
import type { Query } from '../own-database.js';
import type { StageDatabase } from '../stage.js';
import { externalDatabase } from '../stage-databases.js';
import { ToolLedger } from '../tool-ledger.js';
import { callMs, PlannedModel } from './turn-plan.js';

/** The time that a stop has before it hands turns over, wherever they are. */
export const DRAIN_MS = 10_000;

const SETTINGS = `
[agent]
max_waiting = 100
[gateway]
drain_timeout_ms = ${DRAIN_MS}
[tools]
repeatable = ["ledger__again"]
# A kill every two seconds hits the attempts of one turn three times in a row now and then.
[turns]
max_attempts = 10
[rate_limits]
sessions_write = 1000000
sessions_read = 1000000
other = 1000000
`;

interface Connections {
  readonly servers: readonly { readonly status: string }[];
}

/** Runs one replica: when it ends, for whatever reason, it is started again at once. */
class Place {
  /** The process that serves and has its tools. */
  running: GatewayProcess | undefined;
  private begun: BegunProcess | undefined;
  private stopped = false;
  private readonly kept: Promise<void>;

  constructor(
    private readonly bench: ProcessBench,
    private readonly env: () => Readonly<Record<string, string>>,
    private readonly token: string,
  ) {
    this.kept = this.keep();
  }

  /** Also kills one that is still starting; undefined when there is none at the moment. */
  async kill(): Promise<number | undefined> {
    const { begun } = this;
    begun?.kill('SIGKILL');
    await begun?.ended;
    return begun?.pid;
  }

  /** Waits for a process that serves, and stops it. */
  async terminate(): Promise<Ended & { readonly tookMs: number }> {
    await until(() => this.running !== undefined, 90_000);
    const process = this.running as GatewayProcess;
    const beganAt = performance.now();
    process.kill('SIGTERM');
    const end = await process.ended;
    return { ...end, tookMs: performance.now() - beganAt };
  }

  async end(): Promise<void> {
    this.stopped = true;
    await this.kill();
    await this.kept;
  }

  private async keep(): Promise<void> {
    while (!this.stopped) {
      try {
        const process = await this.bench.serve({
          env: this.env(),
          onBegin: (begun) => {
            this.begun = begun;
            if (this.stopped) begun.kill('SIGKILL');
          },
        });
        let isOver = false;
        const ended = process.ended.then(() => {
          isOver = true;
          this.running = undefined;
        });
        await this.untilItHasItsTools(process, () => isOver);
        await ended;
      } catch {
        // It was killed while starting, or the database was down.
        await sleep(100);
      }
      this.running = undefined;
    }
  }

  private async untilItHasItsTools(process: GatewayProcess, isOver: () => boolean): Promise<void> {
    const caller = new HttpCaller(process.b, this.token);
    await until(async () => {
      if (isOver()) return true;
      const answer = await caller.get<Connections>('/mcp').catch(() => undefined);
      return answer?.status === 200 && answer.body.servers.every(({ status }) => status === 'connected');
    }, 60_000);
    if (!isOver()) this.running = process;
  }
}

/** Replicas, and a model, a tool server and a PostgreSQL that outlive them. */
export class TurnFleet {
  readonly token = mintToken();
  readonly places: readonly Place[];

  private constructor(
    replicas: number,
    private readonly bench: ProcessBench,
    readonly database: StageDatabase,
    readonly provider: FaultProxy,
    readonly model: PlannedModel,
    readonly ledger: ToolLedger,
    private readonly servers: McpBench,
    private readonly stopProvider: () => Promise<void>,
  ) {
    this.places = Array.from({ length: replicas }, () => new Place(bench, () => this.env(), this.token));
  }

  static async open(seed: number, replicas = 3): Promise<TurnFleet> {
    const [database, scripted, ledger] = await Promise.all([
      externalDatabase(),
      startScriptedProvider(),
      ToolLedger.start(),
    ]);
    const model = new PlannedModel(seed);
    scripted.script(model.script);
    ledger.pauseMs = (key) => callMs(seed, key);
    const servers = await McpBench.make({ ledger: { transport: 'http', url: ledger.url } }, SETTINGS);
    const provider = await FaultProxy.to(scripted.url);
    const bench = new ProcessBench();
    const stop = () => scripted.stop();
    const fleet = new TurnFleet(replicas, bench, database, provider, model, ledger, servers, stop);
    await until(() => fleet.places.every(({ running }) => running !== undefined), 120_000);
    return fleet;
  }

  get query(): Query {
    return this.database.query;
  }

  /** Any replica that serves; undefined when none does. */
  any(random: () => number): HttpCaller | undefined {
    const serving = this.places.flatMap(({ running }) => running ?? []);
    const process = serving[Math.floor(random() * serving.length)];
    return process && new HttpCaller(process.b, this.token);
  }

  async close(): Promise<void> {
    await Promise.all(this.places.map((place) => place.end()));
    await this.provider.cut();
    for (const way of this.database.ways.values()) await way.cut();
    await this.database.close();
    await this.bench.clear();
    await Promise.all([this.stopProvider(), this.ledger.stop(), this.servers.clear()]);
  }

  private env(): Record<string, string> {
    return {
      ...this.database.env,
      ...this.servers.env,
      ...providerEnv({ url: this.provider.url }),
      GATEWAY_BOOTSTRAP_TOKEN: this.token,
      GATEWAY_MASTER_KEY: 'a master key that only tests may use',
      GATEWAY__SECURITY__ALLOW_LOOPBACK: 'always',
      GATEWAY__LOGGING__STORE_LEVEL: 'warn',
    };
  }
}
