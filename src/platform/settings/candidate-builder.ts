import { sentenceOf } from '../../common/errors/error-text.js';
import type { SecretBox } from '../secrets/secret-box.js';
import { isWithin, parsePath, type Table, writeAt } from './dotted-path.js';
import type { GatewaySettings } from './settings.schema.js';
import { frozen } from './settings-loader.js';
import { nodeOf } from './settings-tree.js';
import {
  type CrossKeyCheck,
  InvalidSettings,
  type SettingsLayer,
  type SettingsProblem,
  validateLayers,
} from './settings-validation.js';

/** The content of an override: any JSON except null, or a secret, sealed for its key. */
export type OverrideContent = { readonly value: unknown } | { readonly sealed: string };

/** One key that was changed at run time, as stored in the database. */
export interface StoredOverride {
  readonly key: string;
  readonly content: OverrideContent;
}

/** All overrides at one moment; the revision increases with every change. */
export interface StoredOverrides {
  readonly revision: string;
  readonly rows: readonly StoredOverride[];
}

/** The change of one key: its content before and after; null for no override. */
export interface OverrideEdit {
  readonly key: string;
  readonly before: OverrideContent | null;
  readonly after: OverrideContent | null;
}

/** Binds a sealed secret to its key, so that it cannot be moved to another one. */
export function sealContext(key: string): string {
  return `config:${key}`;
}

/** The rows after the edits, by key. */
export function afterEdits(
  rows: readonly StoredOverride[],
  edits: readonly OverrideEdit[],
): readonly StoredOverride[] {
  const contents = new Map(rows.map(({ key, content }) => [key, content]));
  for (const { key, after } of edits) {
    if (after === null) contents.delete(key);
    else contents.set(key, after);
  }
  return [...contents]
    .map(([key, content]) => ({ key, content }))
    .sort((one, other) => (one.key < other.key ? -1 : 1));
}

interface OpenedOverride {
  readonly key: string;
  readonly value: unknown;
}

/** Settings that could be in force: all layers merged and valid as a whole. */
export interface SettingsCandidate {
  /** Deeply frozen. */
  readonly settings: GatewaySettings;
  /** What the file and the environment set. */
  readonly layers: readonly SettingsLayer[];
  /** The stored overrides that fit. */
  readonly overrides: SettingsLayer;
  readonly stored: StoredOverrides;
  /** Stored overrides that no longer fit, by key, with the reason. */
  readonly ignored: ReadonlyMap<string, SettingsProblem>;
}

/**
 * Merges the stored overrides into file and environment. The same inputs give the same settings on every replica and
 * after every restart: overrides that do not fit (from a newer version, or sealed with another master key) are left
 * out, and do not stop the start.
 */
export class CandidateBuilder {
  constructor(
    private readonly box: SecretBox,
    private readonly checks: readonly CrossKeyCheck[],
  ) {}

  /** Throws `InvalidSettings` when file and environment are wrong even without overrides. */
  build(layers: readonly SettingsLayer[], stored: StoredOverrides): SettingsCandidate {
    const ignored = new Map<string, SettingsProblem>();
    let kept: readonly OpenedOverride[] = stored.rows.flatMap(
      ({ key, content }) => this.opened(key, content, ignored) ?? [],
    );
    for (;;) {
      const overrides = overrideLayer(kept);
      const { settings, problems } = validateLayers([...layers, overrides], this.checks);
      if (settings !== undefined) return { settings: frozen(settings), layers, overrides, stored, ignored };
      if (kept.length === 0) throw new InvalidSettings(problems);
      kept = withoutBlamed(kept, problems, ignored);
    }
  }

  private opened(
    key: string,
    content: OverrideContent,
    ignored: Map<string, SettingsProblem>,
  ): OpenedOverride | undefined {
    if (nodeOf(key)?.kind !== 'leaf') return leaveOut(ignored, key, 'unknown key');
    try {
      return { key, value: openContent(this.box, key, content) };
    } catch (error) {
      return leaveOut(ignored, key, sentenceOf(error));
    }
  }
}

/** Why overrides of a candidate do not fit; without those that did not fit before either. */
export function newlyIgnored(now: SettingsCandidate, before?: SettingsCandidate): readonly SettingsProblem[] {
  return [...now.ignored].filter(([key]) => !before?.ignored.has(key)).map(([, problem]) => problem);
}

/** The value that an override holds. Throws `CannotOpen` for a secret sealed under another master key. */
export function openContent(box: SecretBox, key: string, content: OverrideContent): unknown {
  return 'sealed' in content ? JSON.parse(box.open(content.sealed, sealContext(key))) : content.value;
}

function overrideLayer(overrides: readonly OpenedOverride[]): SettingsLayer {
  const tree: Table = {};
  for (const { key, value } of overrides) writeAt(tree, parsePath(key) ?? [], value);
  return { name: 'override', tree, whereIs: () => '' };
}

/** Drops at least one override, so that the search ends; drops all when none can be blamed. */
function withoutBlamed(
  kept: readonly OpenedOverride[],
  problems: readonly SettingsProblem[],
  ignored: Map<string, SettingsProblem>,
): readonly OpenedOverride[] {
  const blamed = new Map<OpenedOverride, string>();
  for (const { layer, key, message } of problems) {
    if (layer !== 'override') continue;
    for (const override of nearestTo(key, kept)) blamed.set(override, blamed.get(override) ?? message);
  }
  if (blamed.size === 0)
    for (const override of kept) blamed.set(override, 'does not fit the file and the environment');
  for (const [{ key }, message] of blamed) leaveOut(ignored, key, message);
  return kept.filter((override) => !blamed.has(override));
}

/** The overrides at, above or below a key; else those of the nearest section around it that has any. */
function nearestTo(keyPath: string, kept: readonly OpenedOverride[]): readonly OpenedOverride[] {
  const found = kept.filter(({ key }) => isWithin(key, keyPath) || isWithin(keyPath, key));
  const end = keyPath.lastIndexOf('.');
  return found.length > 0 || end < 0 ? found : nearestTo(keyPath.slice(0, end), kept);
}

function leaveOut(ignored: Map<string, SettingsProblem>, key: string, message: string): undefined {
  ignored.set(key, { where: '', key, message, layer: 'override' });
}
