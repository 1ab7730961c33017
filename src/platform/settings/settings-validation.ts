import type { z } from 'zod';
import { type CrossKeyCheck, crossKeyChecks } from './cross-key-checks.js';
import { deleteAt, formatPath, type Path, readAt, type Table } from './dotted-path.js';
import type { SettingsProblem } from './invalid-settings.js';
import { nearestKey } from './nearest-key.js';
import { type GatewaySettings, settingsSchema } from './settings.schema.js';
import { type LayerName, mergeLayers, type SettingsLayer } from './settings-layer.js';
import { nodeAt } from './settings-tree.js';
import { typeText } from './value-text.js';

interface Validated {
  /** Only when nothing is wrong. */
  readonly settings?: GatewaySettings;
  readonly problems: readonly SettingsProblem[];
}

/**
 * Merges the layers and checks the whole: every key, then the rules over several keys, including those of areas.
 */
export function validateLayers(
  layers: readonly SettingsLayer[],
  otherChecks: readonly CrossKeyCheck[] = [],
): Validated {
  const tree = mergeLayers(layers);
  const result = settingsSchema.safeParse(tree);
  const issues = result.success ? [] : result.error.issues.flatMap(describeIssue);
  const rules = new CrossKeyRules([...crossKeyChecks, ...otherChecks], layers);
  const wrong = [...issues, ...rules.problems(result.data ?? withoutWrong(tree, issues), issues)];
  const problems = wrong.map(({ path, message }) => ({
    ...sourceOfIssue(path, layers),
    key: formatPath(path),
    message,
  }));
  return result.success && problems.length === 0 ? { settings: result.data, problems } : { problems };
}

/** Where the value at a path is set: by the last layer that sets it, or else its nearest ancestor. */
function sourceOfIssue(path: Path, layers: readonly SettingsLayer[]): { where: string; layer?: LayerName } {
  const layer = layers[lastToSet(path, layers)];
  if (layer !== undefined) return { where: layer.whereIs(path), layer: layer.name };
  return path.length > 1 ? sourceOfIssue(path.slice(0, -1), layers) : { where: '' };
}

function lastToSet(path: Path, layers: readonly SettingsLayer[]): number {
  return layers.findLastIndex(({ tree }) => readAt(tree, path) !== undefined);
}

interface WrongKey {
  readonly path: Path;
  readonly message: string;
}

/** The settings without the wrong values, so that the rules over several keys are still checked. */
function withoutWrong(tree: Table, wrong: readonly WrongKey[]): GatewaySettings | undefined {
  for (const { path } of wrong) deleteAt(tree, path.slice(0, 2));
  return settingsSchema.safeParse(tree).data;
}

class CrossKeyRules {
  constructor(
    private readonly checks: readonly CrossKeyCheck[],
    private readonly layers: readonly SettingsLayer[],
  ) {}

  /** Skips rules that read a key known to be wrong. */
  problems(settings: GatewaySettings | undefined, wrong: readonly WrongKey[]): readonly WrongKey[] {
    if (settings === undefined) return [];
    const known = new Set(wrong.map(({ path }) => formatPath(path.slice(0, 2))));
    return this.checks
      .filter(({ keys }) => !keys.some((key) => known.has(key)))
      .flatMap(({ keys, problem }) => {
        const message = problem(settings);
        return message === undefined ? [] : { path: this.blamed(keys), message };
      });
  }

  private blamed(keys: readonly string[]): Path {
    const paths = keys.map((key) => key.split('.'));
    const latest = Math.max(...paths.map((path) => lastToSet(path, this.layers)));
    return paths.find((path) => lastToSet(path, this.layers) === latest) ?? [];
  }
}

interface IssueText {
  readonly path: Path;
  readonly message: string;
}

const maxShownLength = 64;

/** What is wrong and what is allowed, for each key, without the value. */
function describeIssue(issue: z.core.$ZodIssue): readonly IssueText[] {
  const path = issue.path.map(String);
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((name) => unknownKey([...path, name]));
    case 'custom':
      return [{ path, message: issue.message }];
    case 'invalid_key':
      return [{ path, message: `the name is not allowed: ${issue.issues[0]?.message ?? issue.message}` }];
    default:
      return [{ path, message: allowed(path, issue.message) }];
  }
}

function unknownKey(path: Path): IssueText {
  const nearest = nearestKey(path);
  const shown = path.map((name) =>
    name.length > maxShownLength ? `${name.slice(0, maxShownLength)}…` : name,
  );
  return {
    path: shown,
    message: nearest === undefined ? 'unknown key' : `unknown key; the nearest is ${nearest}`,
  };
}

function allowed(path: Path, fallback: string): string {
  const node = nodeAt(path);
  return node === undefined ? fallback : `expected ${typeText(node.schema)}`;
}
