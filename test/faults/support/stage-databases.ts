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
import { hasRestarted, OwnDatabase, type Query, queryAt, socketUrl } from './own-database.js';
import type { StageDatabase } from './stage.js';

/** PostgreSQL's programs, instead of the embedded ones: FAULT_POSTGRES_BIN=/usr/lib/postgresql/15/bin */
const INSTALLED = process.env['FAULT_POSTGRES_BIN'];

/** A server that no gateway can start, reached over TCP through a fault proxy. */
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

/** The server that the gateway runs in its data directory; it can only be reached by its socket. */
export async function embeddedDatabase(bench: ProcessBench): Promise<StageDatabase> {
  const dataDir = join(await bench.folder(), 'data');
  const query: Query = (sql, values) => queryAt(socketUrl(join(dataDir, 'postgres')), sql, values);
  return {
    env: { GATEWAY_DATA_DIR: dataDir },
    query,
    ways: new Map(),
    // This gateway or the next one starts it again. While a gateway restarts there may be no server to stop.
    restart: async () => {
      await until(() => runs(postmasterPid(dataDir)), 90_000);
      const before = runningPostmaster(dataDir);
      process.kill(before, 'SIGQUIT');
      await until(() => hasRestarted(dataDir, before, query), 90_000);
    },
    close: () => Promise.resolve(),
  };
}

function runs(pid: number | undefined): boolean {
  return pid !== undefined && isAlive(pid);
}
