import { sentenceOf } from '../../../common/errors/sentence-of.js';
import type { SkillsSettings } from '../../../platform/settings/sections/skills.section.js';
import type { LoadedSkill } from '../skill.js';
import { folderNames, type ReadSkill, readSkill } from './skill-folder.js';
import { realRoot, type SkillRoot } from './skill-roots.js';

/** What was found in all folders of skills. */
export interface SkillScan {
  /** In the order of precedence, no name twice. */
  readonly skills: readonly LoadedSkill[];
  /** What was read, by where, to begin the next scan from. */
  readonly read: ReadonlyMap<string, ReadSkill>;
  /** What people should know, by where: skills that were left out or put right. */
  readonly notes: ReadonlyMap<string, string>;
  /** Why skills could not be loaded, by where. */
  readonly failures: ReadonlyMap<string, string>;
  /** The folders whose changes matter. */
  readonly folders: ReadonlySet<string>;
}

export const NO_SKILLS: SkillScan = {
  skills: [],
  read: new Map(),
  notes: new Map(),
  failures: new Map(),
  folders: new Set(),
};

/** Reads every folder. Never throws: what cannot be read is noted and the others are served. */
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

  /** A version that is wrong leaves the one before serving, as long as the gateway runs. */
  private async addFolder(root: SkillRoot, real: string, name: string): Promise<void> {
    const where = `${root.origin}/${name}`;
    const before = this.before.read.get(where);
    try {
      const read = await readSkill(root, real, name, this.settings.max_skill_bytes, before);
      if (read === undefined) return;
      this.enter(where, read);
    } catch (error) {
      this.fail(where, sentenceOf(error));
      if (before === undefined) return;
      this.fail(where, 'the version before goes on');
      this.enter(where, before);
    }
  }

  private enter(where: string, read: ReadSkill): void {
    const { skill, warnings } = read;
    this.read.set(where, read);
    this.folders.add(skill.folder);
    for (const warning of warnings) this.note(where, warning);
    const first = this.byName.get(skill.name);
    if (first !== undefined) this.note(where, `there is a skill ${skill.name} already: ${first.where}`);
    else if (this.byName.size >= this.settings.max_skills)
      this.fail(where, `there are ${this.settings.max_skills} skills already (skills.max_skills)`);
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
