import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Injectable } from '@nestjs/common';
import { Settings } from '../../../platform/settings/settings.js';
import type { GatewaySettings } from '../../../platform/settings/settings.schema.js';

/** The folder of the child that only lists tools; no hash is named so. */
const LISTING = 'listing';

/** Records which erasure reached this machine last. No server's name begins with a dot. */
const MARKER = '.erased-up-to';
/** Records the folders before that erasure that could not be removed, one a line. */
const LEFT = '.not-erased';

const FOLDER = /^[0-9a-f]{40}$/;

/** Where the folders of users lie: one for each server, and in it one for each user. */
export function stateFolder({ mcp, database }: GatewaySettings): string {
  return resolve(mcp.state_dir === '' ? join(database.data_dir, 'mcp') : mcp.state_dir);
}

/**
 * The folders of users on this machine: HOME and working folder of the children that run for them, kept over restarts.
 * Their names are hashes, because a user id may be any text.
 */
@Injectable()
export class UserFolders {
  constructor(private readonly settings: Settings) {}

  /** @param user undefined for the child that lists the tools. Throws with the reason when it cannot be created */
  create(server: string, user: string | undefined): string {
    const folder = join(
      stateFolder(this.settings.current),
      server,
      user === undefined ? LISTING : folderOf(user),
    );
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
    } catch (error) {
      const { code = 'unknown' } = error as NodeJS.ErrnoException;
      throw new Error(
        `the folder of the user cannot be created below ${stateFolder(this.settings.current)} (${code}): ` +
          `let the gateway write there, set mcp.state_dir, or set isolation = "shared"`,
        { cause: error },
      );
    }
    return folder;
  }

  /**
   * Removes what all servers keep of a user on this machine; children that run for them must be closed before.
   * @param folder from `folderOf`. Throws the error of what could not be removed, after everything else is
   */
  async erase(folder: string): Promise<void> {
    const root = stateFolder(this.settings.current);
    const entries = await readdir(root, { withFileTypes: true }).catch(noneWithoutFolder);
    const servers = entries.filter((entry) => entry.isDirectory());
    const removed = await Promise.allSettled(
      servers.map(({ name }) => rm(join(root, name, folder), { recursive: true, force: true })),
    );
    for (const one of removed) if (one.status === 'rejected') throw one.reason as Error;
  }

  /** The last erasure that reached the folders of this machine; 0 for none. */
  async erasedUpTo(): Promise<number> {
    const text = await readFile(join(stateFolder(this.settings.current), MARKER), 'utf8').catch(() => '0');
    const id = Number(text);
    return Number.isSafeInteger(id) ? id : 0;
  }

  /** The folders up to there that could not be removed yet. */
  async notErased(): Promise<readonly string[]> {
    const text = await readFile(join(stateFolder(this.settings.current), LEFT), 'utf8').catch(() => '');
    return text.split('\n').filter((line) => FOLDER.test(line));
  }

  /**
   * Where nothing can be written, there are no folders either.
   * @param left those up to `id` that could not be removed: recorded first, so that none is ever forgotten
   */
  async noteErasedUpTo(id: number, left: readonly string[]): Promise<void> {
    const root = stateFolder(this.settings.current);
    try {
      await mkdir(root, { recursive: true, mode: 0o700 });
      await replace(join(root, LEFT), left.join('\n'));
      await replace(join(root, MARKER), String(id));
    } catch {
      return;
    }
  }
}

/** Writes all of it or nothing, also when the process ends meanwhile. */
async function replace(path: string, text: string): Promise<void> {
  await writeFile(`${path}.new`, text, { mode: 0o600 });
  await rename(`${path}.new`, path);
}

function noneWithoutFolder(error: NodeJS.ErrnoException): [] {
  if (error.code === 'ENOENT') return [];
  throw error;
}

/** The name of a user's folders. */
export function folderOf(user: string): string {
  return createHash('sha256').update(user).digest('hex').slice(0, 40);
}
