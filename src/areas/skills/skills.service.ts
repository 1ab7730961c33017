import { Injectable } from '@nestjs/common';
import { isAmong } from '../../common/text/name-pattern.js';
import { type Logger, Logs } from '../../platform/logging/logger.js';
import { Redactor } from '../../platform/logging/redactor.js';
import { agentSettings, DEFAULT_AGENT } from '../../platform/settings/agent-settings.js';
import { Settings } from '../../platform/settings/settings.js';
import { PluginDirectory, type PluginFolder } from '../plugins/plugins.api.js';
import type { ToolContext } from '../tools/tools.api.js';
import type { FailedSkill, LoadedSkill } from './skill.js';
import { rootsOf } from './skill-roots.js';
import { NO_SKILLS, type SkillScan, scanSkills } from './skill-scan.js';

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

  /** In order of precedence. The skills of a plugin disappear the moment it is disabled. */
  list(): readonly LoadedSkill[] {
    const { enabled } = this.settings.current.skills;
    if (!enabled) return [];
    const { skills } = this.scan;
    if (skills.every(({ source }) => source === 'builtin')) return skills;
    const alive = new Set(['builtin', ...this.plugins.loadedFolders().map(({ name }) => `plugin:${name}`)]);
    return skills.filter(({ source }) => alive.has(source));
  }

  /** Those that an agent may use. */
  listFor({ agent = DEFAULT_AGENT }: Pick<ToolContext, 'agent'>): readonly LoadedSkill[] {
    const skills = this.list();
    const patterns = agentSettings(this.settings.current, agent)?.skills ?? [];
    return patterns.includes('*') ? skills : skills.filter(({ name }) => isAmong(name, patterns));
  }

  /** The skills that this replica could not load, as of its last scan. */
  failed(): readonly FailedSkill[] {
    if (!this.settings.current.skills.enabled) return [];
    return [...this.scan.failures].map(([folder, why]) => ({ folder, error: this.redactor.redact(why) }));
  }

  find(name: string, context: Pick<ToolContext, 'agent'>): LoadedSkill | undefined {
    return this.listFor(context).find((skill) => skill.name === name);
  }

  /** Whether the loaded plugins have changed since the last scan. */
  get havePluginsChanged(): boolean {
    return keyOf(this.plugins.loadedFolders()) !== keyOf(this.scannedPlugins);
  }

  /** Whether they have been read since the start. */
  get areRead(): boolean {
    return this.scan !== NO_SKILLS;
  }

  get folders(): ReadonlySet<string> {
    return this.scan.folders;
  }

  /**
   * Reads all folders again, also while skills are switched off, so that switching them on takes effect at once. Never
   * throws. The caller must not run two scans at a time.
   */
  async rescan(): Promise<void> {
    this.scannedPlugins = this.plugins.loadedFolders();
    const { current } = this.settings;
    const before = this.scan;
    this.scan = await scanSkills(rootsOf(current, this.scannedPlugins), current.skills, before);
    this.logChanges(before, this.scan);
  }

  private logChanges(before: SkillScan, after: SkillScan): void {
    for (const [where, note] of after.notes) {
      if (before.notes.get(where) !== note) this.logger.warn('a skill has a problem', { where, note });
    }
    const previous = new Map(before.skills.map((skill) => [skill.name, skill]));
    const current = new Map(after.skills.map((skill) => [skill.name, skill]));
    const changed = [...current]
      .filter(([name, skill]) => previous.get(name) !== skill)
      .map(([name]) => name);
    const gone = [...previous.keys()].filter((name) => !current.has(name));
    if (changed.length + gone.length > 0)
      this.logger.info('skills were loaded', { skills: current.size, changed, gone });
  }
}

function keyOf(folders: readonly PluginFolder[]): string {
  return JSON.stringify(folders);
}
