import { constants } from 'node:fs';
import { open, realpath } from 'node:fs/promises';
import { isAbsolute, relative, resolve, sep } from 'node:path';

/** Why a file is not read: one sentence for people, without paths of this machine. */
class FileProblem extends Error {
  override readonly name = 'FileProblem';
}

/** Whether a path without symbolic links lies below a folder without symbolic links. */
export function isBelow(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/**
 * Reads a regular file below `folder`, up to `maxBytes`, wherever symbolic links lead. Throws `FileProblem`.
 * @param folder absolute and without symbolic links
 */
export async function readContained(folder: string, name: string, maxBytes: number): Promise<Buffer> {
  const real = await realpath(resolve(folder, name)).catch(() => undefined);
  const isInside = isAbsolute(name) ? false : real === undefined || isBelow(folder, real);
  if (!isInside) throw new FileProblem(`${shown(name)} leads out of its folder`);
  if (real === undefined) throw new FileProblem(`there is no file ${shown(name)}`);
  // Without blocking: a pipe would wait for a writer.
  const file = await open(real, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW).catch(
    () => {
      throw new FileProblem(`${shown(name)} cannot be opened`);
    },
  );
  try {
    const facts = await file.stat();
    if (!facts.isFile()) throw new FileProblem(`${shown(name)} is not a file`);
    if (facts.size > maxBytes) throw new FileProblem(`${shown(name)} has more than ${maxBytes} bytes`);
    const bytes = Buffer.alloc(facts.size + 1);
    const length = await fill(file, bytes);
    if (length > facts.size) throw new FileProblem(`${shown(name)} grew while it was read`);
    return Buffer.from(bytes.subarray(0, length));
  } finally {
    await file.close();
  }
}

async function fill(file: Awaited<ReturnType<typeof open>>, bytes: Buffer): Promise<number> {
  let length = 0;
  while (length < bytes.length) {
    const { bytesRead } = await file.read(bytes, length, bytes.length - length, length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return length;
}

function shown(name: string): string {
  return JSON.stringify(name.slice(0, 64));
}
