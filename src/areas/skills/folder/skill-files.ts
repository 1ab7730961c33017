import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

const MAX_FILES = 100;
const DEEPEST = 4;
const LEFT_OUT = /^(?:\.|__pycache__$|node_modules$)/;

/** The files of a skill beside its `SKILL.md`, by their paths within it; at most 100. Links to folders are not followed. */
export async function filesOf(folder: string): Promise<readonly string[]> {
  const found: string[] = [];
  await collect(folder, '', DEEPEST, found);
  return found.sort();
}

async function collect(folder: string, below: string, depth: number, found: string[]): Promise<void> {
  const entries = await readdir(join(folder, below), { withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    if (found.length >= MAX_FILES) return;
    if (LEFT_OUT.test(entry.name)) continue;
    const path = below === '' ? entry.name : `${below}/${entry.name}`;
    if (entry.isDirectory() && depth > 1) await collect(folder, path, depth - 1, found);
    else if ((entry.isFile() || entry.isSymbolicLink()) && !/^skill\.md$/i.test(path)) found.push(path);
  }
}
