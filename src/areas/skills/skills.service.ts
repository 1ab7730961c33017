import { Injectable } from '@nestjs/common';
import { type Logger, Logs } from '../../platform/logging/logger.js';
import { Redactor } from '../../platform/logging/redactor.js';
import { Settings } from '../../platform/settings/settings.js';
import { PluginDirectory, type PluginFolder } from '../plugins/plugin-directory.port.js';
import { rootsOf } from './folder/skill-roots.js';
import { NO_SKILLS, type SkillScan, scanSkills } from './folder/skill-scan.js';
import type { FailedSkill, LoadedSkill } from './skill.js';

/**
 * The skills of this gateway: your own, those that ship, and those of loaded plugins (docs/specification/api.md, 2.7).
 */
@Injectable()
export class Skills {
  private scan: SkillScan = NO_SKILLS;
  private scannedPlugins: readonly PluginFolder[] = [];
  private readonly logger: Logger;

  constructor(
    private readonly plugins: PluginDirectory,
    private readonly settings: Settings,
    private readonly redactor: Redactor,
    logs: Logs,
  ) {
    this.logger = logs.for('skills');
  }

  /** In the order of precedence. Those of a plugin go in the moment it is disabled. */
  list(): readonly LoadedSkill[] {
    const { enabled } = this.settings.current.skills;
    if (!enabled) return [];
    const { skills } = this.scan;
    if (skills.every(({ source }) => source === 'builtin')) return skills;
    const alive = new Set(['builtin', ...this.plugins.loadedFolders().map(({ name }) => `plugin:${name}`)]);
    return skills.filter(({ source }) => alive.has(source));
  }

  /** What this replica could not load, as of its last look. */
  failed(): readonly FailedSkill[] {
    if (!this.settings.current.skills.enabled) return [];
    return [...this.scan.failures].map(([folder, why]) => ({ folder, error: this.redactor.redact(why) }));
  }

  find(name: string): LoadedSkill | undefined {
    return this.list().find((skill) => skill.name === name);
  }

  /** Whether other plugins are loaded than at the last scan. */
  get arePluginsOthers(): boolean {
    return keyOf(this.plugins.loadedFolders()) !== keyOf(this.scannedPlugins);
  }

  get folders(): ReadonlySet<string> {
    return this.scan.folders;
  }

  /** Reads all folders again, also while skills are off: they are there at once when they are on. Never throws. One at a time: the caller sees to that. */
  async rescan(): Promise<void> {
    this.scannedPlugins = this.plugins.loadedFolders();
    const { current } = this.settings;
    const before = this.scan;
    this.scan = await scanSkills(rootsOf(current, this.scannedPlugins), current.skills, before);
    this.logChanges(before, this.scan);
  }

  private logChanges(before: SkillScan, after: SkillScan): void {
    for (const [where, note] of after.notes) {
      if (before.notes.get(where) !== note)
        this.logger.warn('a skill is not as it should be', { where, note });
    }
    const were = new Map(before.skills.map((skill) => [skill.name, skill]));
    const are = new Map(after.skills.map((skill) => [skill.name, skill]));
    const changed = [...are].filter(([name, skill]) => were.get(name) !== skill).map(([name]) => name);
    const gone = [...were.keys()].filter((name) => !are.has(name));
    if (changed.length + gone.length > 0)
      this.logger.info('skills are read', { skills: are.size, changed, gone });
  }
}

function keyOf(folders: readonly PluginFolder[]): string {
  return JSON.stringify(folders);
}
