import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { until } from '../../harness/gateway-process.js';
import { type Query, queryAt, socketUrl } from './own-database.js';

/** PostgreSQL refuses to run as root. */
const asOther: { uid?: number; gid?: number } = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

/** A PostgreSQL installed on this machine, such as /usr/lib/postgresql/15/bin, with its own data directory. */
export class InstalledServer {
  private child: ChildProcess | undefined;

  private constructor(
    private readonly binaries: string,
    private readonly folder: string,
  ) {}

  static async open(binaries: string): Promise<InstalledServer> {
    const folder = await mkdtemp('/tmp/agw-pg-');
    const { uid, gid } = asOther;
    if (uid !== undefined && gid !== undefined) chownSync(folder, uid, gid);
    const args = [
      '-D',
      join(folder, 'files'),
      '-U',
      'gateway',
      '--auth=trust',
      '-E',
      'UTF8',
      '--locale=C.UTF-8',
    ];
    const made = spawnSync(join(binaries, 'initdb'), args, { ...asOther, cwd: folder, encoding: 'utf8' });
    if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr}`);
    const server = new InstalledServer(binaries, folder);
    await server.start();
    await queryAt(server.url.replace('/agent_gateway?', '/postgres?'), 'CREATE DATABASE agent_gateway');
    return server;
  }

  get url(): string {
    return socketUrl(this.folder);
  }

  readonly query: Query = (sql, values) => queryAt(this.url, sql, values);

  /** Immediate: no notice to its clients, no checkpoint, recovery at the next start. */
  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  async close(): Promise<void> {
    await this.stop();
    await rm(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }

  private async start(): Promise<void> {
    const args = ['-D', join(this.folder, 'files'), '-k', this.folder, '-c', 'listen_addresses='];
    this.child = spawn(join(this.binaries, 'postgres'), args, {
      ...asOther,
      cwd: this.folder,
      stdio: 'ignore',
    });
    const url = this.url.replace('/agent_gateway?', '/postgres?');
    await until(
      () =>
        queryAt(url, 'SELECT 1').then(
          () => true,
          () => false,
        ),
      60_000,
    );
  }

  private async stop(): Promise<void> {
    const { child } = this;
    if (child?.exitCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGQUIT');
    await ended;
  }
}
