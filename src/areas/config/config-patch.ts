import {
  formatPath,
  isSafePath,
  isTable,
  type Path,
  parsePath,
  type Table,
} from '../../platform/settings/dotted-path.js';
import { nearestKey, unknownKeyText } from '../../platform/settings/nearest-key.js';
import { redactionMarker } from '../../platform/settings/redaction.js';
import {
  childNode,
  keyOf,
  nodeAt,
  type SettingsNode,
  settingsRoot,
} from '../../platform/settings/settings-tree.js';
import { InvalidSettings, type SettingsProblem } from '../../platform/settings/settings-validation.js';
import { FileOnlySettings, SecuritySettings } from './config.errors.js';

/** One key of a PATCH with its new value; null removes the overrides of the key and of all keys below it. */
export interface PatchItem {
  readonly key: string;
  readonly value: unknown;
  readonly secret: boolean;
}

/** What reading a PATCH needs to know about the configuration. */
export interface PatchKnowledge {
  /** Whether the caller may change keys marked `security`. */
  readonly maySetSecurity: boolean;
  /** Whether an override is stored at or below a key, even one that the schema no longer knows. */
  isStored(key: string): boolean;
  /** What is wrong with the values of these items. */
  valueProblems(items: readonly PatchItem[]): readonly SettingsProblem[];
}

const MAX_PATCH_ITEMS = 1000;
/** Only the first unknown keys get a suggestion: each costs time that a hostile body must not multiply. */
const MAX_NEAREST = 10;
const MAX_SHOWN_LENGTH = 64;

/**
 * Reads the body of a PATCH: dotted keys with values. An object for a section sets the keys in it; null returns a key
 * to the layers below. Throws `InvalidSettings` (400) with every wrong key, then `FileOnlySettings` and
 * `SecuritySettings` (403), whatever the value, so that the response does not confirm a guessed secret. Values are
 * validated later, with the whole; only when a key is wrong are they checked here, to complete the list.
 */
export function readPatch(
  body: Table,
  known: PatchKnowledge,
  root: SettingsNode = settingsRoot(),
): readonly PatchItem[] {
  const reading = new PatchReading(known, root);
  for (const [key, value] of entriesOf(body)) reading.add(key, value);
  return reading.items();
}

class PatchReading {
  private readonly found: PatchItem[] = [];
  private readonly problems: SettingsProblem[] = [];
  private readonly fileOnly: string[] = [];
  private readonly security: string[] = [];
  private readonly unknown: { readonly path: Path; readonly at: number }[] = [];

  constructor(
    private readonly known: PatchKnowledge,
    private readonly root: SettingsNode,
  ) {}

  add(key: string, value: unknown): void {
    const path = parsePath(key);
    const node = path && nodeAt(path, this.root);
    if (node !== undefined) this.addAt(node, value);
    else if (value === null && this.known.isStored(key)) this.push({ key, value, secret: false });
    else this.refuseUnknown(key, path);
  }

  items(): readonly PatchItem[] {
    this.refuseOverlaps();
    if (this.problems.length > 0) {
      this.suggest();
      throw new InvalidSettings([...this.problems, ...this.known.valueProblems(this.found)]);
    }
    if (this.fileOnly.length > 0) throw new FileOnlySettings(this.fileOnly);
    if (this.security.length > 0 && !this.known.maySetSecurity) throw new SecuritySettings(this.security);
    return this.found;
  }

  private addAt(node: SettingsNode, value: unknown): void {
    const key = keyOf(node);
    const problem = problemOfValue(node, nodeAt(node.path.slice(0, -1), this.root), value);
    if (problem !== undefined) this.refuse(key, problem);
    else if (node.kind !== 'leaf' && value !== null) this.addBelow(node, value as Table);
    else {
      if (node.marks.fileOnly) this.fileOnly.push(shown(key));
      if (node.marks.security) this.security.push(shown(key));
      this.push({ key, value, secret: node.marks.secret === true });
    }
  }

  private addBelow(node: SettingsNode, values: Table): void {
    for (const [name, value] of entriesOf(values)) {
      const child = childNode(node, name);
      const path = [...node.path, name];
      if (child === undefined) this.refuseUnknown(formatPath(path), path);
      else this.addAt(child, value);
    }
  }

  private push(item: PatchItem): void {
    this.found.push(item);
    if (this.found.length > MAX_PATCH_ITEMS) throw new InvalidSettings([tooMany]);
  }

  private refuse(key: string, message: string): void {
    this.problems.push({ where: '', key: shown(key), message });
    if (this.problems.length > MAX_PATCH_ITEMS) throw new InvalidSettings([tooMany]);
  }

  private refuseUnknown(key: string, path: Path | undefined): void {
    if (path !== undefined && this.unknown.length < MAX_NEAREST)
      this.unknown.push({ path, at: this.problems.length });
    this.refuse(key, 'unknown key');
  }

  /** Runs last, once it is certain that the list is shown. */
  private suggest(): void {
    for (const { path, at } of this.unknown) {
      const problem = this.problems[at];
      const message = unknownKeyText(nearestKey(path, this.root));
      if (problem !== undefined) this.problems[at] = { ...problem, message };
    }
  }

  /** Two items for one key have no order that a caller could rely on. */
  private refuseOverlaps(): void {
    const assigned = new Set<string>();
    for (const { key } of this.found) {
      if (assigned.has(key)) this.refuse(key, 'is set twice');
      assigned.add(key);
    }
    for (const key of assigned) {
      const above = ancestorsOf(key).find((ancestor) => assigned.has(ancestor));
      if (above !== undefined) this.refuse(key, `is also set by ${shown(above)}`);
    }
  }
}

const tooMany = { where: '', key: '', message: `at most ${MAX_PATCH_ITEMS} keys may be changed at once` };

/** Refuses too many before it reads any of them. */
function entriesOf(table: Table): readonly (readonly [key: string, value: unknown])[] {
  const keys = Object.keys(table);
  if (keys.length > MAX_PATCH_ITEMS) throw new InvalidSettings([tooMany]);
  return keys.map((key) => [key, table[key]]);
}

function ancestorsOf(key: string): readonly string[] {
  const names = parsePath(key) ?? [];
  return names.slice(1).map((_, index) => formatPath(names.slice(0, index + 1)));
}

function shown(key: string): string {
  return key.length > MAX_SHOWN_LENGTH ? `${key.slice(0, MAX_SHOWN_LENGTH - 1)}…` : key;
}

/** What is wrong with a value for a node, before the schema checks its type and bounds. */
function problemOfValue(
  node: SettingsNode,
  parent: SettingsNode | undefined,
  value: unknown,
): string | undefined {
  if (parent?.kind === 'leaf') return 'is part of a value; set the whole value';
  if (holdsMarker(value)) return 'holds the redaction marker; send the real value or leave it out';
  if (hasUnsafeNames(value)) return 'holds a name that is not allowed';
  if (node.kind === 'leaf' || value === null) return undefined;
  if (!isTable(value)) return 'is a section; set its keys';
  const isEmptyThing = parent?.kind === 'collection' && Object.keys(value).length === 0;
  return isEmptyThing ? 'needs at least one of its keys' : undefined;
}

/** A caller who sends back what GET showed would replace the secret by the marker. */
function holdsMarker(value: unknown): boolean {
  return someParts(value, (_, part) => typeof part === 'string' && part.trim() === redactionMarker);
}

function hasUnsafeNames(value: unknown): boolean {
  return someParts(value, (name) => name !== undefined && !isSafePath([name]));
}

/** Whether the predicate holds for the value or a part of it, at any depth. */
function someParts(
  value: unknown,
  holds: (name: string | undefined, part: unknown) => boolean,
  name?: string,
): boolean {
  if (holds(name, value)) return true;
  if (Array.isArray(value)) return value.some((item) => someParts(item, holds));
  return isTable(value) && Object.entries(value).some(([key, item]) => someParts(item, holds, key));
}
