import { crossKeyChecks } from './cross-key-checks.js';
import {
  deleteAt,
  formatPath,
  mergeTables,
  type Path,
  parsePath,
  readAt,
  type Table,
} from './dotted-path.js';
import type { SettingsProblem } from './invalid-settings.js';
import { describeIssue } from './issue-words.js';
import { type GatewaySettings, settingsSchema } from './settings.schema.js';
import type { SettingsLayer } from './settings-layer.js';

interface Validated {
  /** Present when nothing is wrong. */
  readonly settings?: GatewaySettings;
  readonly problems: readonly SettingsProblem[];
}

/** Lays the layers over each other and checks the whole: every key, then the rules over several keys. */
export function validateLayers(layers: readonly SettingsLayer[]): Validated {
  const tree = layers.reduce<Table>((merged, layer) => mergeTables(merged, layer.tree), {});
  const result = settingsSchema.safeParse(tree);
  const issues = result.success ? [] : result.error.issues.flatMap(describeIssue);
  const wrong = [...issues, ...crossKeyProblems(result.data ?? withoutWrong(tree, issues), issues)];
  const problems = wrong.map(({ path, message }) => ({
    where: whereIs(path, layers),
    key: formatPath(path),
    message,
  }));
  return result.success && problems.length === 0 ? { settings: result.data, problems } : { problems };
}

/** Where the value at a path was set, by the last layer that sets it. */
function whereIs(path: Path, layers: readonly SettingsLayer[]): string {
  const layer = layers.findLast(({ tree }) => readAt(tree, path) !== undefined);
  if (layer !== undefined) return layer.whereIs(path);
  return path.length > 1 ? whereIs(path.slice(0, -1), layers) : '';
}

interface WrongKey {
  readonly path: Path;
  readonly message: string;
}

/** The settings as they would be without the wrong values, so that rules over several keys are checked all the same. */
function withoutWrong(tree: Table, wrong: readonly WrongKey[]): GatewaySettings | undefined {
  for (const { path } of wrong) deleteAt(tree, path.slice(0, 2));
  return settingsSchema.safeParse(tree).data;
}

function crossKeyProblems(
  settings: GatewaySettings | undefined,
  wrong: readonly WrongKey[],
): readonly WrongKey[] {
  if (settings === undefined) return [];
  const known = new Set(wrong.map(({ path }) => formatPath(path.slice(0, 2))));
  return crossKeyChecks
    .filter(({ keys }) => !keys.some((key) => known.has(key)))
    .flatMap(({ keys, problem }) => {
      const message = problem(settings);
      return message === undefined ? [] : { path: parsePath(keys[0]) ?? [], message };
    });
}
