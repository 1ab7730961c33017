import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { TestGateway } from './gateway.js';

const run = promisify(execFile);

export interface SkillView {
  readonly name: string;
  readonly source: string;
  readonly description: string;
  readonly triggers: readonly string[];
}

export interface SkillJudgement {
  readonly problems: readonly string[];
  readonly properties?: { readonly name: string; readonly description: string };
}

/** A folder of skills, and the settings that name it. */
export class SkillBench {
  private constructor(readonly folder: string) {}

  static async make(): Promise<SkillBench> {
    const bench = new SkillBench(await mkdtemp('/tmp/agw-skills-'));
    await mkdir(bench.directory);
    return bench;
  }

  get directory(): string {
    return join(this.folder, 'skills');
  }

  get env(): Record<string, string> {
    return { GATEWAY__SKILLS__DIRECTORY: this.directory };
  }

  /** A skill with this header, or with a minimal one. */
  async add(name: string, body: string, header?: string): Promise<void> {
    const keys = header ?? `name: ${name}\ndescription: Does ${name}.`;
    await this.write(`${name}/SKILL.md`, `---\n${keys}\n---\n${body}\n`);
  }

  /** A file below the folder of skills, replaced by renaming as editors do. */
  async write(path: string, text: string | Buffer): Promise<void> {
    const file = join(this.directory, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(`${file}~`, text);
    await rename(`${file}~`, file);
  }

  /** A link below the folder of skills. An existing one is replaced by renaming. */
  async link(path: string, target: string): Promise<void> {
    const file = join(this.directory, path);
    await mkdir(dirname(file), { recursive: true });
    await symlink(target, `${file}~`);
    await rename(`${file}~`, file);
  }

  remove(path: string): Promise<void> {
    return rm(join(this.directory, path), { recursive: true });
  }

  clear(): Promise<void> {
    return rm(this.folder, { recursive: true, force: true });
  }
}

export async function skillsB(gateway: TestGateway): Promise<readonly SkillView[]> {
  const { body } = await gateway.b.get<{ skills: SkillView[] }>('/skills');
  return body.skills;
}

export async function skillNames(gateway: TestGateway): Promise<readonly string[]> {
  return (await skillsB(gateway)).map(({ name }) => name);
}

/** What the format's reference library says about these folders. */
export async function judgeWithReference(folders: readonly string[]): Promise<readonly SkillJudgement[]> {
  const { stdout } = await run(process.execPath, [resolve('test/harness/skills-judge.mjs'), ...folders]);
  return JSON.parse(stdout) as SkillJudgement[];
}
