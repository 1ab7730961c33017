import { lstatSync, realpathSync, type Stats, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { isBelow } from '../../../platform/files/contained-file.js';

/** A symbolic link that leads to what is shown, by its own real path. */
export interface Link {
  readonly path: string;
  readonly target: string;
}

/** Where a path really is, and the links that it passes. */
export interface ResolvedPath {
  readonly real: string;
  readonly links: readonly Link[];
}

/** Whether `path` is `folder` or lies below it; both without symbolic links. */
export function isWithin(folder: string, path: string): boolean {
  return folder === path || isBelow(folder, path);
}

/** Follows a path step by step. Undefined when there is nothing, or nothing that may be seen. */
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

/** Facts about what a path leads to; undefined when there is nothing. */
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
