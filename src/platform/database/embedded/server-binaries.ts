import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { EmbeddedPostgresError } from './embedded-postgres.error.js';
import { completeLibraryLinks } from './library-links.js';

const platforms = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64'];

/** The programs of the platform's package. */
export interface ServerBinaries {
  readonly initdb: string;
  readonly postgres: string;
  /** PostgreSQL's major version, such as 18. */
  readonly major: number;
  /** Folders, parted by colons, where the loader finds libraries whose links could not be made inside the package. */
  readonly libraryPath?: string;
}

/** Finds the programs and makes what library links are missing, inside the package or else below `dataDir`. */
export async function findServerBinaries(dataDir: string): Promise<ServerBinaries> {
  const root = packageRoot(`${process.platform}-${process.arch}`);
  const libraryPath = await completeLibraryLinks(root, join(dataDir, 'postgres-lib'));
  return {
    initdb: join(root, 'native/bin/initdb'),
    postgres: join(root, 'native/bin/postgres'),
    major: await majorVersion(root),
    ...(libraryPath === undefined ? {} : { libraryPath }),
  };
}

function packageRoot(platform: string): string {
  if (process.platform === 'win32') {
    throw new EmbeddedPostgresError('Node cannot use unix sockets on Windows; run the gateway in WSL.');
  }
  if (!platforms.includes(platform)) {
    throw new EmbeddedPostgresError(`there are no binaries for ${platform} (only ${platforms.join(', ')}).`);
  }
  try {
    const entry = createRequire(import.meta.url).resolve(`@embedded-postgres/${platform}`);
    return resolve(dirname(entry), '..');
  } catch (cause) {
    throw new EmbeddedPostgresError(
      `the package @embedded-postgres/${platform} is not installed; install with optional dependencies.`,
      { cause },
    );
  }
}

async function majorVersion(root: string): Promise<number> {
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
  return Number.parseInt(version, 10);
}
