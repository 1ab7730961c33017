import { createHash } from 'node:crypto';
import { access, copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from './run.mjs';

/**
 * Installs what the lock file in `source` lists, once for each lock file, outside the repository.
 * @param name the start of the folder's name
 * @param scripts the packages whose install scripts may run
 * @returns the folder
 */
export async function installed(source, name, scripts = []) {
  const lock = await readFile(join(source, 'package-lock.json'));
  const digest = createHash('sha256').update(lock).digest('hex').slice(0, 16);
  const folder = join(tmpdir(), `${name}-${digest}`);
  const mark = join(folder, 'installed');
  await mkdir(folder, { recursive: true });
  for (const file of ['package.json', 'package-lock.json', '.npmrc'])
    await copyFile(join(source, file), join(folder, file));
  const isThere = await access(mark).then(
    () => true,
    () => false,
  );
  if (isThere) return folder;
  console.log(`installing what ${source} names in ${folder}`);
  const options = { cwd: folder, limitMs: 900_000 };
  await run('npm', ['ci', '--no-audit', '--no-fund', '--ignore-scripts'], options);
  if (scripts.length > 0) await run('npm', ['rebuild', ...scripts], options);
  await writeFile(mark, '');
  return folder;
}
