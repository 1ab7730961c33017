import { createHash } from 'node:crypto';
import { lstat, readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { sentenceOf } from '../../common/errors/error-text.js';
import { isBelow, readContained } from '../../platform/files/contained-file.js';
import type { SkillsSettings } from '../../platform/settings/sections/skills.section.js';
import { type LoadedSkill, SkillProblem } from './skill.js';
import { parseSkill } from './skill-format.js';
import { realRoot, type SkillRoot } from './skill-roots.js';

/** The result of scanning all skill folders. The key `where` is the origin and the folder name, `workspace/weekly-report`. */
export interface SkillScan {
  /** In order of precedence, each name once. */
  readonly skills: readonly LoadedSkill[];
  /** What was read, by where, as the base of the next scan. */
  readonly read: ReadonlyMap<string, ReadSkill>;
  /** What operators should know, by where: skills that were left out or corrected. */
  readonly notes: ReadonlyMap<string, string>;
  /** Why skills could not be loaded, by where. */
  readonly failures: ReadonlyMap<string, string>;
  /** The folders to watch. */
  readonly folders: ReadonlySet<string>;
}

export const NO_SKILLS: SkillScan = {
  skills: [],
  read: new Map(),
  notes: new Map(),
  failures: new Map(),
  folders: new Set(),
};

/** Reads every folder. Never throws: problems are noted, and the other skills are served. */
export async function scanSkills(
  roots: readonly SkillRoot[],
  settings: SkillsSettings,
  before: SkillScan,
): Promise<SkillScan> {
  const scan = new Scan(settings, before);
  for (const root of roots) await scan.add(root);
  return scan.result();
}

class Scan {
  private readonly byName = new Map<string, { skill: LoadedSkill; where: string }>();
  private readonly read = new Map<string, ReadSkill>();
  private readonly notes = new Map<string, string>();
  private readonly failures = new Map<string, string>();
  private readonly folders = new Set<string>();

  constructor(
    private readonly settings: SkillsSettings,
    private readonly before: SkillScan,
  ) {}

  async add(root: SkillRoot): Promise<void> {
    try {
      const real = await realRoot(root);
      if (real === undefined) return;
      this.folders.add(real);
      for (const name of await folderNames(real).catch(() => [])) await this.addFolder(root, real, name);
    } catch (error) {
      this.fail(root.origin, sentenceOf(error));
    }
  }

  result(): SkillScan {
    const skills = [...this.byName.values()].map(({ skill }) => skill);
    return { skills, read: this.read, notes: this.notes, failures: this.failures, folders: this.folders };
  }

  /** While a new version is invalid, the previous one stays in use, until the gateway restarts. */
  private async addFolder(root: SkillRoot, real: string, name: string): Promise<void> {
    const where = `${root.origin}/${name}`;
    const before = this.before.read.get(where);
    try {
      const folder = await realpath(join(real, name)).catch(() => undefined);
      if (folder === undefined) throw new SkillProblem('its folder is a broken link');
      const isInside = isBelow(real, folder);
      // Also without a skill that can be loaded: somebody may repair it in that folder.
      if (isInside) this.folders.add(folder);
      const fileName = await presentFile(folder);
      if (fileName === undefined) return;
      if (!isInside) throw new SkillProblem('its folder leads out of the folder of skills');
      const bytes = await readContained(folder, fileName, this.settings.max_skill_bytes);
      const read = readSkill({ source: root.source, folder, name }, bytes, before);
      this.enter(where, read);
    } catch (error) {
      this.fail(where, sentenceOf(error));
      if (before === undefined) return;
      this.fail(where, 'the previous version stays in use');
      this.enter(where, before);
    }
  }

  private enter(where: string, read: ReadSkill): void {
    const { skill, warnings } = read;
    this.read.set(where, read);
    for (const warning of warnings) this.note(where, warning);
    const first = this.byName.get(skill.name);
    if (first !== undefined) this.note(where, `the skill ${skill.name} already exists: ${first.where}`);
    else if (this.byName.size >= this.settings.max_skills)
      this.fail(where, `there are already ${this.settings.max_skills} skills (skills.max_skills)`);
    else this.byName.set(skill.name, { skill, where });
  }

  private fail(where: string, why: string): void {
    const before = this.failures.get(where);
    this.failures.set(where, before === undefined ? why : `${before}; ${why}`);
    this.note(where, why);
  }

  private note(where: string, note: string): void {
    const before = this.notes.get(where);
    this.notes.set(where, before === undefined ? note : `${before}; ${note}`);
  }
}

const MAX_FOLDERS = 2000;
const FILE_NAMES = ['SKILL.md', 'skill.md'];

/** A skill as it was read, for comparison with the next scan. */
interface ReadSkill {
  readonly skill: LoadedSkill;
  readonly fingerprint: string;
  readonly warnings: readonly string[];
}

/** The folders in `directory`, sorted by name, at most 2,000; files and hidden folders are left out. Throws when it cannot be read. */
async function folderNames(directory: string): Promise<readonly string[]> {
  const entries = await readdir(directory, { withFileTypes: true });
  return entries
    .filter((entry) => (entry.isDirectory() || entry.isSymbolicLink()) && !entry.name.startsWith('.'))
    .map(({ name }) => name)
    .sort()
    .slice(0, MAX_FOLDERS);
}

/** One skill; `before` when nothing has changed. Throws `SkillProblem`. */
function readSkill(
  { source, folder, name }: Pick<LoadedSkill, 'source' | 'folder' | 'name'>,
  bytes: Buffer,
  before: ReadSkill | undefined,
): ReadSkill {
  const fingerprint = createHash('sha256').update(folder).update('\0').update(bytes).digest('base64');
  if (before?.fingerprint === fingerprint) return before;
  const { warnings, ...text } = parseSkill(bytes, name);
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
