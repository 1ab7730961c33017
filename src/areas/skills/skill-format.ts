import { parse } from 'yaml';
import { sentenceOf } from '../../common/errors/error-text.js';
import { SkillProblem } from './skill.js';
import { normalized } from './triggered-skills.js';

const MAX_HEADER_CHARS = 16_384;
const MAX_DESCRIPTION_LENGTH = 1024;
const HEADER = /^---[ \t]*\r?\n((?:[\s\S]*?\r?\n)??)---[ \t]*(?:\r?\n|$)/;

/** The contents of a `SKILL.md`. */
export interface SkillText {
  readonly name: string;
  readonly description: string;
  readonly triggers: readonly string[];
  readonly toolsRequired: readonly string[];
  readonly body: string;
  /** Deviations from the format that were corrected. */
  readonly warnings: readonly string[];
}

/** Parses a `SKILL.md` in the Agent Skills format; unknown keys are ignored. Throws `SkillProblem`. */
export function parseSkill(bytes: Uint8Array, folderName: string): SkillText {
  const { header, body } = partsOf(textOf(bytes));
  const table = tableOf(header);
  const warnings: string[] = [];
  const name = nameIn(table, warnings);
  if (name !== folderName.normalize('NFKC')) warnings.push('its folder has another name');
  const description = oneLine(textIn(table, 'description'));
  if (description === '') throw new SkillProblem('it has no description');
  const characters = [...description];
  if (characters.length > MAX_DESCRIPTION_LENGTH)
    warnings.push(
      `its description has ${characters.length} characters and is cut at ${MAX_DESCRIPTION_LENGTH}`,
    );
  return {
    name,
    description: characters.slice(0, MAX_DESCRIPTION_LENGTH).join(''),
    triggers: triggersIn(table, warnings),
    toolsRequired: requiredTools(table, warnings),
    body,
    warnings,
  };
}

function textOf(bytes: Uint8Array): string {
  try {
    // The decoder removes a byte order mark.
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    if (!text.includes('\0')) return text;
  } catch {
    // Reported below.
  }
  throw new SkillProblem('SKILL.md is not text in UTF-8');
}

function partsOf(text: string): { header: string; body: string } {
  const match = HEADER.exec(text.slice(0, MAX_HEADER_CHARS));
  if (match === null)
    throw new SkillProblem(
      `SKILL.md does not begin with a header between two lines of --- (at most ${MAX_HEADER_CHARS} characters)`,
    );
  return { header: match[1] ?? '', body: text.slice(match[0].length).trim() };
}

function tableOf(header: string): Readonly<Record<string, unknown>> {
  const table = yamlOf(header);
  if (typeof table !== 'object' || table === null || Array.isArray(table))
    throw new SkillProblem('the header of SKILL.md is not a table of keys');
  return table as Record<string, unknown>;
}

function yamlOf(header: string): unknown {
  try {
    return parse(header, { maxAliasCount: 0, logLevel: 'error', prettyErrors: false });
  } catch (error) {
    const [first = ''] = sentenceOf(error).split('\n');
    throw new SkillProblem(`the header of SKILL.md is not YAML: ${first.slice(0, 200)}`);
  }
}

function oneLine(text: string): string {
  return text.replace(/\s+/gu, ' ').trim();
}

const MAX_NAME_LENGTH = 64;
const MAX_TRIGGERS = 32;
const MAX_TRIGGER_LENGTH = 64;
const MAX_TOOLS = 64;
const MAX_TOOL_LENGTH = 128;
const NAME = /^[\p{Ll}\p{Lo}\p{Lm}\p{M}\p{N}]+(-[\p{Ll}\p{Lo}\p{Lm}\p{M}\p{N}]+)*$/u;
/** Splits at spaces and commas outside parentheses, as in `Read Bash(git add:*), Grep`. */
const TOOL = /(?:\([^()]*\)|[^\s,()])+/gu;

type Table = Readonly<Record<string, unknown>>;

/** The text of a key: numbers and booleans as written, empty for anything else. */
function textIn(table: Table, key: string): string {
  const value = Object.hasOwn(table, key) ? table[key] : undefined;
  return ['string', 'number', 'boolean'].includes(typeof value) ? String(value).toWellFormed() : '';
}

/** Older skills have names such as `PDF Tools`, which become `pdf-tools`. */
function nameIn(table: Table, warnings: string[]): string {
  const given = textIn(table, 'name').normalize('NFKC').trim();
  if (given === '') throw new SkillProblem('it has no name');
  const name = given
    .toLowerCase()
    .replace(/[\s_-]+/gu, '-')
    .replace(/^-|-$/g, '');
  if (name.length > MAX_NAME_LENGTH || !NAME.test(name))
    throw new SkillProblem(
      `its name is not 1 to ${MAX_NAME_LENGTH} lower-case letters, digits and single hyphens`,
    );
  if (name !== given) warnings.push(`its name was changed to ${name}`);
  return name;
}

/** `metadata.triggers`, or `triggers` as other agents have it: a list, or text with commas. */
function triggersIn(table: Table, warnings: string[]): string[] {
  const metadata = Object.hasOwn(table, 'metadata') ? table['metadata'] : undefined;
  const holder = isTable(metadata) && Object.hasOwn(metadata, 'triggers') ? metadata : table;
  const given = partsIn(holder, 'triggers', (text) => text.split(/[,，、;；\n]/u));
  const byMeaning = new Map(given.map((trigger) => [normalized(trigger), trigger] as const).reverse());
  byMeaning.delete('');
  return bounded([...byMeaning.values()].reverse(), MAX_TRIGGERS, MAX_TRIGGER_LENGTH, 'triggers', warnings);
}

/** `allowed-tools`: a list, or text with spaces or commas. */
function requiredTools(table: Table, warnings: string[]): string[] {
  const given = partsIn(table, 'allowed-tools', (text) => text.match(TOOL) ?? []);
  return bounded([...new Set(given)], MAX_TOOLS, MAX_TOOL_LENGTH, 'allowed-tools', warnings);
}

function partsIn(table: Table, key: string, split: (text: string) => readonly string[]): string[] {
  const value = Object.hasOwn(table, key) ? table[key] : undefined;
  const parts = Array.isArray(value)
    ? value.map((_, index) => textIn(value as unknown as Table, String(index)))
    : split(textIn(table, key));
  return parts.map((part) => part.trim()).filter((part) => part !== '');
}

function bounded(
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
