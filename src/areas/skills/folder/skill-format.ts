import { parse } from 'yaml';
import { sentenceOf } from '../../../common/errors/sentence-of.js';
import { SkillProblem } from '../skill-problem.js';
import { nameIn, requiredTools, textIn, triggersIn } from './skill-fields.js';

const MAX_HEADER_CHARS = 16_384;
const MAX_DESCRIPTION_LENGTH = 1024;
const HEADER = /^---[ \t]*\r?\n((?:[\s\S]*?\r?\n)??)---[ \t]*(?:\r?\n|$)/;

/** What a `SKILL.md` says. */
export interface SkillText {
  readonly name: string;
  readonly description: string;
  readonly triggers: readonly string[];
  readonly toolsRequired: readonly string[];
  readonly body: string;
  /** What is not as the format wants it, and was put right. */
  readonly warnings: readonly string[];
}

/** Reads a `SKILL.md` of the Agent Skills format; keys that it does not know are left alone. Throws `SkillProblem`. */
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
    // The decoder takes a byte order mark away.
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    if (!text.includes('\0')) return text;
  } catch {
    // Said below.
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
