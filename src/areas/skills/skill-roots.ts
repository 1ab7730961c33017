import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { packageRoot } from '../../common/package-root.js';
import { isBelow } from '../../platform/files/contained-file.js';
import type { GatewaySettings } from '../../platform/settings/settings.schema.js';
import type { PluginFolder } from '../plugins/plugins.api.js';
import { SkillProblem } from './skill.js';

/** A folder that holds one folder for each skill. */
export interface SkillRoot {
  /** For the log: `workspace`, `builtin` or `plugin:<name>`. */
  readonly origin: string;
  /** The `source` in `GET /skills`. */
  readonly source: string;
  readonly directory: string;
  /** The folder that must contain it after resolving links; if set, the directory may be absent. */
  readonly within?: string;
}

/** In order of precedence: the operator's own skills, the shipped ones, then those of plugins by plugin name. */
export function rootsOf(settings: GatewaySettings, plugins: readonly PluginFolder[]): readonly SkillRoot[] {
  const { builtin, directory } = settings.skills;
  const roots: SkillRoot[] = [];
  if (directory !== '') roots.push({ origin: 'workspace', source: 'builtin', directory });
  if (builtin) roots.push({ origin: 'builtin', source: 'builtin', directory: join(packageRoot(), 'skills') });
  for (const { name, folder } of pluginsWithSkills(settings, plugins)) {
    const source = `plugin:${name}`;
    roots.push({ origin: source, source, directory: join(folder, 'skills'), within: folder });
  }
  return roots;
}

/** Leaves out pinned plugins, because a pin vouches only for the module and its manifest. */
function pluginsWithSkills(
  { skills, plugins: { integrity, installed } }: GatewaySettings,
  plugins: readonly PluginFolder[],
): readonly PluginFolder[] {
  if (!skills.plugins || integrity === 'pin') return [];
  const isPinned = (name: string): boolean => Object.hasOwn(installed, name) && installed[name]?.pin !== '';
  return plugins.filter(({ name }) => !isPinned(name)).sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** @returns its real path; undefined for a directory that is absent and may be. Throws `SkillProblem` */
export async function realRoot({ directory, within }: SkillRoot): Promise<string | undefined> {
  const real = await realpath(directory).catch(() => undefined);
  if (within === undefined) {
    if (real === undefined) throw new SkillProblem('the folder cannot be read');
    return real;
  }
  if (real !== undefined && !isBelow(within, real))
    throw new SkillProblem('skills leads out of the folder of the plugin');
  return real;
}
