import { join } from 'node:path';
import { FaultProxy } from '../../harness/fault-proxy.js';
import {
  isAlive,
  type ProcessBench,
  postmasterPid,
  runningPostmaster,
  until,
} from '../../harness/gateway-process.js';
import { InstalledServer } from './installed-server.js';
import { answersAnew, OwnDatabase, type Query, queryAt, socketUrl } from './own-database.js';
import type { StageDatabase } from './stage.js';

/** PostgreSQL's programs, when it is not to be the one that we bring along: FAULT_POSTGRES_BIN=/usr/lib/postgresql/15/bin */
const INSTALLED = process.env['FAULT_POSTGRES_BIN'];

/** A server that no gateway knows how to start, reached over TCP through a fault proxy. */
export async function externalDatabase(): Promise<StageDatabase> {
  const own = await (INSTALLED === undefined ? OwnDatabase.open() : InstalledServer.open(INSTALLED));
  const way = await FaultProxy.to(own.url);
  return {
    env: { DATABASE_URL: way.url },
    query: own.query,
    ways: new Map([['database', way]]),
    restart: () => own.restart(),
    close: () => own.close(),
  };
}

/** The one that the gateway runs itself, in its data directory: there is no way to it but its socket. */
export async function embeddedDatabase(bench: ProcessBench): Promise<StageDatabase> {
  const dataDir = join(await bench.folder(), 'data');
  const query: Query = (sql, values) => queryAt(socketUrl(join(dataDir, 'postgres')), sql, values);
  return {
    env: { GATEWAY_DATA_DIR: dataDir },
    query,
    ways: new Map(),
    // The gateway brings it back, or the next one does; while a gateway restarts there may be none to be stopped.
    restart: async () => {
      await until(() => runs(postmasterPid(dataDir)), 90_000);
      const before = runningPostmaster(dataDir);
      process.kill(before, 'SIGQUIT');
      await until(() => answersAnew(dataDir, before, query), 90_000);
    },
    close: () => Promise.resolve(),
  };
}

function runs(pid: number | undefined): boolean {
  return pid !== undefined && isAlive(pid);
}
