import { createHash } from 'node:crypto';
import { lstat, readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { isBelow, readContained } from '../../platform/files/contained-file.js';
import { type LoadedSkill, SkillProblem } from './skill.js';
import { parseSkill } from './skill-format.js';
import type { SkillRoot } from './skill-roots.js';

const MAX_FOLDERS = 2000;
const FILE_NAMES = ['SKILL.md', 'skill.md'];

/** A skill as it was read, for comparison with the next scan. */
export interface ReadSkill {
  readonly skill: LoadedSkill;
  readonly fingerprint: string;
  readonly warnings: readonly string[];
}

/** The folders in `directory`, sorted by name, at most 2,000; files and hidden folders are left out. Throws when it cannot be read. */
export async function folderNames(directory: string): Promise<readonly string[]> {
  const entries = await readdir(directory, { withFileTypes: true });
  return entries
    .filter((entry) => (entry.isDirectory() || entry.isSymbolicLink()) && !entry.name.startsWith('.'))
    .map(({ name }) => name)
    .sort()
    .slice(0, MAX_FOLDERS);
}

/**
 * Reads one skill; returns `before` when nothing has changed, and undefined for a folder without a `SKILL.md`. Throws
 * `SkillProblem` and `FileProblem`.
 * @param root absolute, without symbolic links
 */
export async function readSkill(
  { source }: SkillRoot,
  root: string,
  folderName: string,
  maxBytes: number,
  before: ReadSkill | undefined,
): Promise<ReadSkill | undefined> {
  const folder = await realpath(join(root, folderName)).catch(() => undefined);
  if (folder === undefined) throw new SkillProblem('its folder is a broken link');
  const fileName = await presentFile(folder);
  if (fileName === undefined) return undefined;
  if (!isBelow(root, folder)) throw new SkillProblem('its folder leads out of the folder of skills');
  const bytes = await readContained(folder, fileName, maxBytes);
  const fingerprint = createHash('sha256').update(folder).update('\0').update(bytes).digest('base64');
  if (before?.fingerprint === fingerprint) return before;
  const { warnings, ...text } = parseSkill(bytes, folderName);
  return { skill: { ...text, source, folder }, fingerprint, warnings };
}

async function presentFile(folder: string): Promise<string | undefined> {
  for (const name of FILE_NAMES) {
    const isThere = await lstat(join(folder, name)).then(
      () => true,
      () => false,
    );
    if (isThere) return name;
  }
  return undefined;
}
