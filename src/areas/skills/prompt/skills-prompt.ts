import { Injectable, type OnModuleInit } from '@nestjs/common';
import { type Logger, Logs } from '../../../platform/logging/logger.js';
import { Settings } from '../../../platform/settings/settings.js';
import { ToolPolicy } from '../../tools/tool-policy.js';
import { type PromptQuestion, type PromptSource, PromptSources } from '../../turns/prompt-sources.js';
import type { LoadedSkill } from '../skill.js';
import { SKILL_READ } from '../skill-read.tool.js';
import { Skills } from '../skills.service.js';
import { skillCatalog } from './skill-catalog.js';
import { triggeredSkills } from './triggered-skills.js';

/** Most bytes of all the bodies in one prompt; the model can read what is left out. */
const MAX_BODY_BYTES = 131_072;

/**
 * Tells the model which skills there are, and what those say that a message asks for. A turn that may not use
 * `skill_read` gets neither: no message brings in what its rules keep out.
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

  additionFor({ context, content }: PromptQuestion): string | undefined {
    const skills = this.skills.list();
    if (skills.length === 0 || !this.policy.allows(SKILL_READ, context)) return undefined;
    const parts = [this.catalogOf(skills), this.bodiesFor(content, skills)];
    return parts.filter((part) => part !== '').join('\n\n');
  }

  private catalogOf(skills: readonly LoadedSkill[]): string {
    const { text, leftOut } = skillCatalog(skills, this.settings.current.skills.max_catalog_bytes);
    if (leftOut !== this.leftOut && leftOut > 0)
      this.logger.warn('not all skills fit into the catalogue (skills.max_catalog_bytes)', {
        left_out: leftOut,
      });
    this.leftOut = leftOut;
    return text;
  }

  private bodiesFor(content: string, skills: readonly LoadedSkill[]): string {
    const triggered = triggeredSkills(skills, content, this.settings.current.skills.max_triggered);
    const bodies = fitting(triggered.map(bodyOf));
    if (bodies.length === 0) return '';
    this.logger.debug('skills were asked for', { skills: triggered.map(({ name }) => name) });
    return ['The message asks for what follows. Keep to it.', ...bodies].join('\n\n');
  }
}

/** The body is as its author wrote it: instructions, like the system prompt around it. */
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
