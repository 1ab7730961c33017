import { Injectable, type OnModuleInit } from '@nestjs/common';
import { type Logger, Logs } from '../../platform/logging/logger.js';
import { Settings } from '../../platform/settings/settings.js';
import {
  type PromptAddition,
  type PromptQuestion,
  type PromptSource,
  PromptSources,
  ToolPolicy,
} from '../tools/tools.api.js';
import type { LoadedSkill } from './skill.js';
import { SKILL_READ } from './skill-read.tool.js';
import { Skills } from './skills.service.js';
import { triggeredSkills } from './triggered-skills.js';

/** Limit of all skill bodies in one prompt; the model can read the others with `skill_read`. */
const MAX_BODY_BYTES = 131_072;

/**
 * Adds the catalogue of skills to the system prompt, and after the history the text of those that the message asks for
 * (docs/skills.md). A turn that may not use `skill_read` gets neither, so that no message works around the tool rules.
 */
@Injectable()
export class SkillsPrompt implements PromptSource, OnModuleInit {
  readonly name = 'skills';
  private readonly logger: Logger;
  private leftOut = 0;

  constructor(
    private readonly skills: Skills,
    private readonly sources: PromptSources,
    private readonly policy: ToolPolicy,
    private readonly settings: Settings,
    logs: Logs,
  ) {
    this.logger = logs.for('skills');
  }

  onModuleInit(): void {
    this.sources.add(this);
  }

  additionFor({ context, content }: PromptQuestion): PromptAddition | undefined {
    const skills = this.skills.listFor(context);
    if (skills.length === 0 || !this.policy.allows(SKILL_READ, context)) return undefined;
    return { system: this.catalogOf(skills), trailing: this.bodiesFor(content, skills) };
  }

  private catalogOf(skills: readonly LoadedSkill[]): string {
    const { text, leftOut } = skillCatalog(skills, this.settings.current.skills.max_catalog_bytes);
    if (leftOut !== this.leftOut && leftOut > 0)
      this.logger.warn('not all skills fit into the catalogue; raise skills.max_catalog_bytes', {
        left_out: leftOut,
      });
    this.leftOut = leftOut;
    return text;
  }

  private bodiesFor(content: string, skills: readonly LoadedSkill[]): string {
    const triggered = triggeredSkills(skills, content, this.settings.current.skills.max_triggered);
    const bodies = fitting(triggered.map(bodyOf));
    if (bodies.length === 0) return '';
    this.logger.debug('the message asks for skills', { skills: triggered.map(({ name }) => name) });
    return ['The message asks for what follows. Keep to it.', ...bodies].join('\n\n');
  }
}

/** Not escaped: the body is instructions, like the system prompt around it. */
function bodyOf({ name, body }: LoadedSkill): string {
  return `<skill name="${name}">\n${body}\n</skill>`;
}

function fitting(bodies: readonly string[]): readonly string[] {
  let left = MAX_BODY_BYTES;
  return bodies.filter((body) => {
    const bytes = Buffer.byteLength(body);
    if (bytes > left) return false;
    left -= bytes;
    return true;
  });
}

const INTRODUCTION =
  'Skills are instructions for particular tasks. When a task fits the description of one, read it with the tool ' +
  'skill_read before you begin, and follow it.';
const BEGIN = '<available_skills>';
const END = '</available_skills>';

const entries = new WeakMap<LoadedSkill, string>();

export interface SkillCatalog {
  /** Empty without skills. */
  readonly text: string;
  /** The number of skills that did not fit. */
  readonly leftOut: number;
}

/** Names and descriptions of the skills for the model, in at most `maxBytes`; the first skills win. */
export function skillCatalog(skills: readonly LoadedSkill[], maxBytes: number): SkillCatalog {
  const frame = Buffer.byteLength(`${INTRODUCTION}\n${BEGIN}\n\n${END}`);
  let left = maxBytes - frame;
  const shown: string[] = [];
  for (const skill of skills) {
    const entry = entryOf(skill);
    left -= Buffer.byteLength(entry) + 1;
    if (left < 0) break;
    shown.push(entry);
  }
  const leftOut = skills.length - shown.length;
  if (shown.length === 0) return { text: '', leftOut };
  return { text: [INTRODUCTION, BEGIN, ...shown, END].join('\n'), leftOut };
}

/** Escapes name and description, so that they cannot end the list or start another. */
function entryOf(skill: LoadedSkill): string {
  const known = entries.get(skill);
  if (known !== undefined) return known;
  const { name, description } = skill;
  const entry = `<skill><name>${escaped(name)}</name><description>${escaped(description)}</description></skill>`;
  entries.set(skill, entry);
  return entry;
}

function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replace(/[\p{Cc}\p{Cf}]/gu, '');
}
