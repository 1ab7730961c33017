import { mintToken } from '../../../src/platform/tokens/token-format.js';
import type { ChannelB } from '../../harness/channels.js';
import { createTestDatabase, type TestDatabase } from '../../harness/database.js';
import { eventually } from '../../harness/eventually.js';
import { type GatewayProcess, ProcessBench } from '../../harness/gateway-process.js';
import { HttpCaller } from '../../harness/http-caller.js';
import { type ScriptedProvider, startScriptedProvider } from '../../harness/scripted-provider.js';
import { StoryLine } from '../../harness/story-line.js';
import { providerEnv } from '../../harness/turn-stream.js';

interface Stopping {
  stop(): Promise<void>;
}

/** What a platform's stage consists of. */
export interface ChannelKind<Platform> {
  /** The name of the channel in the settings. */
  readonly name: string;
  start(): Promise<Platform>;
  env(platform: Platform): Readonly<Record<string, string>>;
}

/** A platform, a model, a database and replicas for one story. */
export class ChannelStage<Platform extends Stopping> {
  readonly line = new StoryLine();
  /** The replicas that run. */
  replicas: GatewayProcess[] = [];
  private readonly bench = new ProcessBench();
  private readonly token = mintToken();

  private constructor(
    private readonly kind: ChannelKind<Platform>,
    readonly platform: Platform,
    readonly provider: ScriptedProvider,
    readonly database: TestDatabase,
  ) {}

  static async open<Platform extends Stopping>(kind: ChannelKind<Platform>): Promise<ChannelStage<Platform>> {
    const parts = await Promise.all([kind.start(), startScriptedProvider(), createTestDatabase()]);
    return new ChannelStage(kind, ...parts);
  }

  async close(): Promise<void> {
    await this.bench.clear();
    await Promise.all([this.platform.stop(), this.provider.stop()]);
    await this.database.drop();
  }

  async serve(): Promise<GatewayProcess> {
    const replica = await this.bench.serve({
      env: {
        ...providerEnv(this.provider),
        ...this.kind.env(this.platform),
        DATABASE_URL: this.database.url,
        GATEWAY_BOOTSTRAP_TOKEN: this.token,
        GATEWAY_MASTER_KEY: 'a master key that only tests may use',
        GATEWAY__SECURITY__ALLOW_LOOPBACK: 'always',
        GATEWAY__DATABASE__POOL_SIZE: '4',
        GATEWAY__LOGGING__STORE_LEVEL: 'warn',
      },
    });
    this.replicas.push(replica);
    return replica;
  }

  async stateOf(replica: GatewayProcess): Promise<ChannelB | undefined> {
    const { body } = await new HttpCaller(replica.b, this.token).get<{ channels: ChannelB[] }>('/channels');
    return body.channels.find(({ name }) => name === this.kind.name);
  }

  async untilState(replica: GatewayProcess, status: string, timeoutMs = 20_000): Promise<ChannelB> {
    let found: ChannelB | undefined;
    await eventually(async () => {
      found = await this.stateOf(replica);
      expect(found?.status).toBe(status);
    }, timeoutMs);
    return found as ChannelB;
  }

  /** Waits until the replica has the server's tools. */
  async untilServer(replica: GatewayProcess, server: string): Promise<void> {
    const caller = new HttpCaller(replica.b, this.token);
    await eventually(async () => {
      const { body } = await caller.get<{ servers: { name: string; status: string }[] }>('/mcp');
      expect(body.servers.find(({ name }) => name === server)?.status).toBe('connected');
    }, 60_000);
  }

  /** The replica that receives, by the lease. */
  async receiver(): Promise<GatewayProcess> {
    const [row] = await this.database.query<{ owner: string }>(
      `SELECT owner FROM channel_states WHERE name = $1`,
      [this.kind.name],
    );
    const found = this.replicas.find(({ pid }) => row?.owner.split(':').includes(String(pid)) === true);
    if (found === undefined) throw new Error(`Nobody here receives: ${String(row?.owner)}`);
    return found;
  }

  async killReceiver(): Promise<void> {
    const victim = await this.receiver();
    victim.kill('SIGKILL');
    await victim.ended;
    this.leave(victim);
  }

  /** Removes a replica that has ended. */
  leave(replica: GatewayProcess): void {
    this.replicas = this.replicas.filter((other) => other !== replica);
  }
}
