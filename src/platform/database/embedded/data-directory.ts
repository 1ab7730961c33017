import { constants } from 'node:fs';
import { access, chmod, mkdir, realpath, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { codeOf, EmbeddedPostgresError, messageOf } from './embedded-postgres.error.js';

/** What lies where below the data directory. */
export interface DataDirectory {
  /** Absolute, without symbolic links, so that every process means the same. */
  readonly path: string;
  /** Whether it was made just now, and so is ours to set the mode of. */
  readonly created: boolean;
  readonly cluster: string;
  readonly lockFile: string;
  readonly logFile: string;
}

/** Makes the data directory with mode 0700 when it is absent; one that exists keeps its mode. */
export async function openDataDirectory(requested: string): Promise<DataDirectory> {
  const absolute = resolve(requested);
  try {
    const created = await makeDirectory(absolute);
    const path = await realpath(absolute);
    await access(path, constants.R_OK | constants.W_OK | constants.X_OK);
    return {
      path,
      created,
      cluster: join(path, 'postgres'),
      lockFile: join(path, 'postgres.lock'),
      logFile: join(path, 'postgres.log'),
    };
  } catch (cause) {
    throw new EmbeddedPostgresError(
      `the data directory ${absolute} cannot be used (${messageOf(cause)}); name one that this user may write in GATEWAY_DATA_DIR.`,
      { cause },
    );
  }
}

/** Lets the server's user pass through, not list, on the way to its own folder. Answers with the mode that was. */
export async function openToOtherUsers({ path }: DataDirectory): Promise<number> {
  const mode = (await stat(path)).mode & 0o777;
  if ((mode & 0o011) !== 0o011) await chmod(path, mode | 0o011);
  return mode;
}

async function makeDirectory(path: string): Promise<boolean> {
  await mkdir(dirname(path), { recursive: true });
  try {
    await mkdir(path, { mode: 0o700 });
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}
