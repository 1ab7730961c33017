import { execFileSync } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Why bubblewrap does not work on this machine; undefined when it does. */
const noBubblewrap: string | undefined = (() => {
  try {
    const root = ['--unshare-user', '--unshare-pid', '--ro-bind', '/', '/', '--proc', '/proc'];
    execFileSync('bwrap', [...root, '--size', '4096', '--tmpfs', '/tmp', 'true'], { stdio: 'pipe' });
    return undefined;
  } catch (error) {
    return (error as Error).message.split('\n').at(-2) ?? 'it is not installed';
  }
})();

export const isRoot = process.getuid?.() === 0;
/** A user without any rights. */
export const NOBODY = 65_534;

/** `describe` where bubblewrap works; elsewhere the title says why its tests are skipped. */
export function describeInSandbox(title: string, tests: () => void): void {
  if (noBubblewrap === undefined) describe(title, tests);
  else describe.skip(`${title} (passed over, bubblewrap does not work here: ${noBubblewrap})`, tests);
}

/** A PATH that has what tool servers need, but not bubblewrap. */
export class PathWithoutBubblewrap {
  private constructor(readonly value: string) {}

  static async make(): Promise<PathWithoutBubblewrap> {
    const folder = await mkdtemp(join(tmpdir(), 'agw-path-'));
    await chmod(folder, 0o755);
    await symlink(process.execPath, join(folder, 'node'));
    for (const name of ['sh', 'sleep', 'true'])
      await symlink(
        realpathSync(execFileSync('which', [name], { encoding: 'utf8' }).trim()),
        join(folder, name),
      );
    return new PathWithoutBubblewrap(folder);
  }

  clear(): Promise<void> {
    return rm(this.value, { recursive: true, force: true });
  }
}

/** Writes a file, and creates its parent folders. */
export async function writeFileAt(file: string, text: string): Promise<string> {
  await mkdir(join(file, '..'), { recursive: true });
  await writeFile(file, text);
  return file;
}
