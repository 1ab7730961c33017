import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Injectable } from '@nestjs/common';
import { Settings } from '../../../platform/settings/settings.js';
import type { GatewaySettings } from '../../../platform/settings/settings.schema.js';

/** The folder of the child that only lists tools; no hash is named so. */
const LISTING = 'listing';

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
      user === undefined ? LISTING : hashOf(user),
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

  /** Removes what all servers keep of a user on this machine; children that run for them must be closed before. */
  async erase(user: string): Promise<void> {
    const root = stateFolder(this.settings.current);
    const servers = await readdir(root).catch(() => []);
    const name = hashOf(user);
    await Promise.all(
      servers.map((server) => rm(join(root, server, name), { recursive: true, force: true })),
    );
  }
}

function hashOf(user: string): string {
  return createHash('sha256').update(user).digest('hex').slice(0, 40);
}
