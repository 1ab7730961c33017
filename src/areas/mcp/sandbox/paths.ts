import { lstatSync, realpathSync, type Stats, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { isBelow } from '../../../platform/files/contained-file.js';

/** A symbolic link: its own real path, and the real path it leads to. */
export interface Link {
  readonly path: string;
  readonly target: string;
}

/** The real path, and the links on the way to it. */
export interface ResolvedPath {
  readonly real: string;
  readonly links: readonly Link[];
}

/** Whether `path` is `folder` or below it; both real paths. */
export function isWithin(folder: string, path: string): boolean {
  return folder === path || isBelow(folder, path);
}

/** Follows a path step by step. Undefined when it does not exist or cannot be read. */
export function resolvedPath(path: string): ResolvedPath | undefined {
  let real = '/';
  const links: Link[] = [];
  try {
    for (const name of resolve(path).split('/').filter(Boolean)) {
      const step = join(real, name);
      const facts = lstatSync(step, { throwIfNoEntry: false });
      if (facts === undefined) return undefined;
      real = facts.isSymbolicLink() ? realpathSync(step) : step;
      if (real !== step) links.push({ path: step, target: real });
    }
    return { real, links };
  } catch {
    return undefined;
  }
}

/** The status of the file behind a path; undefined when it does not exist or cannot be read. */
export function factsOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

export function isFolder(path: string): boolean {
  return factsOf(path)?.isDirectory() ?? false;
}

export function isFile(path: string): boolean {
  return factsOf(path)?.isFile() ?? false;
}

/** The folders above a path, the nearest first, without the root. */
export function foldersAbove(path: string): readonly string[] {
  const above: string[] = [];
  for (let folder = dirname(path); folder !== '/'; folder = dirname(folder)) above.push(folder);
  return above;
}
