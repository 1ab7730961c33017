import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BareConfig } from '../bare/bare-process.js';
import type { ProviderConfig } from '../provider/openai-process.js';
import { Children } from './children.js';
import { type BenchDatabase, DatabaseServer } from './database-server.js';
import { type GatewayOptions, type GatewayProcess, startGateway } from './gateway-process.js';
import { type Helper, startHelper } from './helper.js';
import type { LoadPlan, LoadResult } from './load/load-plan.js';
import type { Target } from './target.js';

/** The gateway's default; the baseline gets the same. */
const POOL_SIZE = 10;

type LoadHelper = Helper<true, LoadPlan, LoadResult>;

/** One run: starts what the benchmarks need, each in its own process, and cleans everything up. */
export class Bench {
  readonly children = new Children();
  private server: Promise<DatabaseServer> | undefined;
  private loader: Promise<LoadHelper> | undefined;
  private readonly dataDirs: string[] = [];

  private constructor(readonly folder: string) {}

  static async open(): Promise<Bench> {
    return new Bench(await mkdtemp(join(tmpdir(), 'agw-bench-run-')));
  }

  /** Stops what a failed benchmark has left running. The database server stays for the next one. */
  async clear(): Promise<void> {
    await this.children.stopAll();
    this.loader = undefined;
  }

  async close(): Promise<void> {
    await this.clear();
    await (await this.server?.catch(() => undefined))?.close();
    for (const folder of [this.folder, ...this.dataDirs]) await rm(folder, { recursive: true, force: true });
  }

  /** An empty data folder for a gateway with its own database; removed after the run. */
  async dataDir(): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'agw-bench-'));
    this.dataDirs.push(folder);
    // The database server may run as another user.
    await chmod(folder, 0o711);
    return folder;
  }

  async database(): Promise<BenchDatabase> {
    this.server ??= DatabaseServer.open();
    return (await this.server).createDatabase();
  }

  gateway(options: Omit<GatewayOptions, 'dataDir'> & { readonly dataDir?: string }): Promise<GatewayProcess> {
    const { folder } = this;
    return startGateway(this.children, { dataDir: folder, ...options }, join(folder, 'gateway.log'));
  }

  /** The baseline on the same database, with as many connections. */
  async bare(config: Omit<BareConfig, 'poolSize'>): Promise<Target> {
    const helper = await this.helper<{ port: number }>('../bare/bare-process.js', {
      poolSize: POOL_SIZE,
      ...config,
    });
    return { name: 'bare', pid: helper.pid, port: helper.ready.port, headers: {}, stop: helper.stop };
  }

  /** A model that answers at once. */
  async provider(config: ProviderConfig = {}): Promise<{ readonly url: string; stop(): Promise<void> }> {
    const helper = await this.helper<{ url: string }>('../provider/openai-process.js', config);
    return { url: helper.ready.url, stop: helper.stop };
  }

  async load(plan: LoadPlan): Promise<LoadResult> {
    this.loader ??= this.helper<true, LoadPlan, LoadResult>('./load/load-process.js', {});
    return (await this.loader).ask(plan);
  }

  /** `script` is a path relative to this file. The script ends with `serveHelper`. */
  helper<Ready, Question = never, Answer = never>(
    script: string,
    config: object,
  ): Promise<Helper<Ready, Question, Answer>> {
    const path = fileURLToPath(new URL(script, import.meta.url));
    return startHelper(this.children, { script: path, config, folder: this.folder });
  }
}
