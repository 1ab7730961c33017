import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { readContained } from '../../platform/files/contained-file.js';
import { Settings } from '../../platform/settings/settings.js';
import { type RegisteredTool, type ToolContext, ToolRegistry } from '../tools/tools.api.js';
import { type LoadedSkill, SkillProblem } from './skill.js';
import { Skills } from './skills.service.js';

export const SKILL_READ = 'skill_read';
const HIDDEN = /(?:^|[\\/])\.[^./\\]/;

/** The tool with which the model reads a skill and the other files in its folder. */
@Injectable()
export class SkillReadTool implements RegisteredTool, OnModuleInit {
  readonly name = SKILL_READ;
  readonly description =
    'Reads the instructions of a skill, and names the other files that belong to it. With file, reads one of those.';
  readonly inputSchema = {
    type: 'object',
    properties: {
      name: { type: 'string', minLength: 1, maxLength: 64, description: 'The name of the skill.' },
      file: {
        type: 'string',
        minLength: 1,
        maxLength: 512,
        description: 'A file of the skill, such as references/details.md; its instructions unless given.',
      },
    },
    required: ['name'],
    additionalProperties: false,
  };

  constructor(
    private readonly skills: Skills,
    private readonly tools: ToolRegistry,
    private readonly settings: Settings,
  ) {}

  onModuleInit(): void {
    this.tools.register(this);
  }

  isAvailable(context: ToolContext): boolean {
    return this.skills.listFor(context).length > 0;
  }

  async run({ name, file }: Readonly<Record<string, unknown>>, context: ToolContext): Promise<string> {
    const skill = this.skills.find(String(name).normalize('NFKC').toLowerCase().trim(), context);
    if (skill === undefined) throw new SkillProblem('There is no skill with that name.');
    return typeof file === 'string' ? this.readFile(skill, file) : this.readBody(skill);
  }

  private async readBody({ name, folder, body }: LoadedSkill): Promise<string> {
    const files = await filesOf(folder);
    const named = files.length === 0 ? '' : `\n<files>\n${files.join('\n')}\n</files>`;
    return `<skill name="${name}">${named}\n${body}\n</skill>`;
  }

  private async readFile({ folder }: LoadedSkill, file: string): Promise<string> {
    if (HIDDEN.test(file)) throw new SkillProblem('Hidden files are not read.');
    const bytes = await readContained(folder, file, this.settings.current.skills.max_file_bytes);
    try {
      const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
      if (!text.includes('\0')) return text;
    } catch {
      // Reported below.
    }
    throw new SkillProblem('The file is not text in UTF-8.');
  }
}

const MAX_FILES = 100;
const DEEPEST = 4;
const LEFT_OUT = /^(?:\.|__pycache__$|node_modules$)/;

/** The files of a skill beside its `SKILL.md`, as relative paths, at most 100 and four levels deep. Does not follow links to folders. */
async function filesOf(folder: string): Promise<readonly string[]> {
  const found: string[] = [];
  await collect(folder, '', DEEPEST, found);
  return found.sort();
}

async function collect(folder: string, below: string, depth: number, found: string[]): Promise<void> {
  const entries = await readdir(join(folder, below), { withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    if (found.length >= MAX_FILES) return;
    if (LEFT_OUT.test(entry.name)) continue;
    const path = below === '' ? entry.name : `${below}/${entry.name}`;
    if (entry.isDirectory() && depth > 1) await collect(folder, path, depth - 1, found);
    else if ((entry.isFile() || entry.isSymbolicLink()) && !/^skill\.md$/i.test(path)) found.push(path);
  }
}
