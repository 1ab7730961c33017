import type { Benchmark } from './benchmark.js';
import { backupRows } from './scale/backup.js';
import { closeWorlds, openWorlds } from './scale/worlds.js';

/** A backup of a small and of a large database, and the restore. Needs `pg_dump` and `pg_restore`, at least as new as the server. */
export const backup: Benchmark = {
  name: 'backup',
  onlyByName: true,
  run: async (bench) => {
    const worlds = await openWorlds(bench);
    const rows = await backupRows(bench, worlds);
    await closeWorlds(worlds);
    return rows;
  },
};
