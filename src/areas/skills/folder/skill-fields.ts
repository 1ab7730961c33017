import { normalized } from '../prompt/trigger-text.js';
import { SkillProblem } from '../skill-problem.js';

const MAX_NAME_LENGTH = 64;
const MAX_TRIGGERS = 32;
const MAX_TRIGGER_LENGTH = 64;
const MAX_TOOLS = 64;
const MAX_TOOL_LENGTH = 128;
const NAME = /^[\p{Ll}\p{Lo}\p{Lm}\p{M}\p{N}]+(-[\p{Ll}\p{Lo}\p{Lm}\p{M}\p{N}]+)*$/u;
/** Parts at blanks and commas that are not within parentheses, as in `Read Bash(git add:*), Grep`. */
const TOOL = /(?:\([^()]*\)|[^\s,()])+/gu;

type Table = Readonly<Record<string, unknown>>;

/** Text of a key; numbers and the like as they are written, nothing for anything else. */
export function textIn(table: Table, key: string): string {
  const value = Object.hasOwn(table, key) ? table[key] : undefined;
  return ['string', 'number', 'boolean'].includes(typeof value) ? String(value).toWellFormed() : '';
}

/** Older skills are called such as `PDF Tools`; they become `pdf-tools`. */
export function nameIn(table: Table, warnings: string[]): string {
  const given = textIn(table, 'name').normalize('NFKC').trim();
  if (given === '') throw new SkillProblem('it has no name');
  const name = given
    .toLowerCase()
    .replace(/[\s_-]+/gu, '-')
    .replace(/^-|-$/g, '');
  if (name.length > MAX_NAME_LENGTH || !NAME.test(name))
    throw new SkillProblem(
      `its name is not 1 to ${MAX_NAME_LENGTH} small letters, digits and single hyphens`,
    );
  if (name !== given) warnings.push(`its name was made into ${name}`);
  return name;
}

/** `metadata.triggers`, or `triggers` as others write it: a list, or text with commas. */
export function triggersIn(table: Table, warnings: string[]): string[] {
  const metadata = Object.hasOwn(table, 'metadata') ? table['metadata'] : undefined;
  const holder = isTable(metadata) && Object.hasOwn(metadata, 'triggers') ? metadata : table;
  const given = partsIn(holder, 'triggers', (text) => text.split(/[,，、;；\n]/u));
  const byMeaning = new Map(given.map((trigger) => [normalized(trigger), trigger] as const).reverse());
  byMeaning.delete('');
  return kept([...byMeaning.values()].reverse(), MAX_TRIGGERS, MAX_TRIGGER_LENGTH, 'triggers', warnings);
}

/** `allowed-tools`: a list, or text with blanks or commas. */
export function requiredTools(table: Table, warnings: string[]): string[] {
  const given = partsIn(table, 'allowed-tools', (text) => text.match(TOOL) ?? []);
  return kept([...new Set(given)], MAX_TOOLS, MAX_TOOL_LENGTH, 'allowed-tools', warnings);
}

function partsIn(table: Table, key: string, split: (text: string) => readonly string[]): string[] {
  const value = Object.hasOwn(table, key) ? table[key] : undefined;
  const parts = Array.isArray(value)
    ? value.map((_, index) => textIn(value as unknown as Table, String(index)))
    : split(textIn(table, key));
  return parts.map((part) => part.trim()).filter((part) => part !== '');
}

function kept(
  parts: readonly string[],
  most: number,
  longest: number,
  key: string,
  warnings: string[],
): string[] {
  const good = parts.filter(({ length }) => length <= longest).slice(0, most);
  if (good.length < parts.length)
    warnings.push(
      `of its ${key}, ${parts.length - good.length} were left out: at most ${most} of ${longest} characters`,
    );
  return good;
}

function isTable(value: unknown): value is Table {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
