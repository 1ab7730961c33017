import { randomBytes } from 'node:crypto';
import { link, mkdir, readFile, stat, unlink, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

/** The key in the file, which is made with mode 0600 when there is none. Of several that start at once, one makes it. */
export async function readOrMakeKeyFile(path: string): Promise<string> {
  const known = await readKeyFile(path);
  if (known !== undefined) return known;
  await makeKeyFile(path);
  const made = await readKeyFile(path);
  if (made === undefined) throw new Error(`The key file ${path} was removed while it was made.`);
  return made;
}

/** The key in the file; undefined when there is none. Throws for a file that others may read. */
export async function readKeyFile(path: string): Promise<string | undefined> {
  try {
    const { mode } = await stat(path);
    if ((mode & 0o077) !== 0 && process.platform !== 'win32') {
      throw new Error(`Others may read the key file ${path}; run: chmod 600 ${path}`);
    }
    return (await readFile(path, 'utf8')).trim();
  } catch (error) {
    if (isFileError(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** Written aside and linked into place: nobody ever reads half a key, and nobody's key is overwritten. */
async function makeKeyFile(path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const aside = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;
  await writeFile(aside, `${randomBytes(32).toString('base64')}\n`, { mode: 0o600, flag: 'wx', flush: true });
  try {
    await link(aside, path);
  } catch (error) {
    if (!isFileError(error, 'EEXIST')) throw error;
  } finally {
    await unlink(aside);
  }
}

function isFileError(error: unknown, code: string): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === code;
}
