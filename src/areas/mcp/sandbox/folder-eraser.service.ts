import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { Database } from '../../../platform/database/database.js';
import { type Logger, Logs } from '../../../platform/logging/logger.js';
import { DueWork } from '../../../platform/runtime/due-work.service.js';
import { McpServers } from '../mcp-servers.service.js';
import { ErasedFolders, NEWEST_ERASED_FOLDER } from './erased-folders.js';
import { UserFolders } from './user-folders.js';

const EVERY_MS = 1500;
/** How often the gateway retries folders that could not be removed. */
const AGAIN_MS = 60_000;
/** When there are this many, something is wrong with all of them; the rest waits. */
const MOST_LEFT = 1000;

/**
 * Deletes the folders of erased users on this machine: at the start those erased in the meantime, then as erasures
 * happen. Its progress is stored beside the folders, so that somebody who writes again afterwards keeps the new folder.
 * A folder that cannot be removed does not hold up the others: it is recorded there too, and tried again.
 */
@Injectable()
export class FolderEraser implements OnModuleInit, OnModuleDestroy {
  private readonly erased: ErasedFolders;
  private readonly logger: Logger;
  private doneUpTo = 0;
  /** The folders up to that point that could not be removed. */
  private left = new Set<string>();
  private triedAt = 0;
  private working: Promise<void> | undefined;
  private isStopped = false;

  constructor(
    database: Database,
    private readonly folders: UserFolders,
    private readonly servers: McpServers,
    private readonly due: DueWork,
    logs: Logs,
  ) {
    this.erased = new ErasedFolders(database);
    this.logger = logs.for('mcp');
  }

  async onModuleInit(): Promise<void> {
    this.doneUpTo = await this.folders.erasedUpTo();
    this.left = new Set(await this.folders.notErased());
    await this.work();
    this.due.watch({
      question: NEWEST_ERASED_FOLDER,
      everyMs: EVERY_MS,
      onAnswer: (newest) => {
        if (this.isWaiting(newest)) void this.work();
      },
    });
  }

  async onModuleDestroy(): Promise<void> {
    this.isStopped = true;
    await this.working;
  }

  private isWaiting(newest: number | undefined): boolean {
    if (this.left.size > 0 && performance.now() - this.triedAt >= AGAIN_MS) return true;
    return newest !== undefined && newest > this.doneUpTo && this.left.size < MOST_LEFT;
  }

  /** One at a time; never rejects: what fails is tried again. */
  private work(): Promise<void> {
    this.working ??= this.eraseAll()
      .catch((error: unknown) =>
        this.logger.error('folders of erased users could not be deleted; will retry', {
          error: String(error),
        }),
      )
      .finally(() => (this.working = undefined));
    return this.working;
  }

  private async eraseAll(): Promise<void> {
    await this.tryAgain();
    while (this.goesOn()) {
      const rows = await this.erased.since(this.doneUpTo);
      if (rows.length === 0) return;
      for (const { id, folder } of rows) {
        if (!this.goesOn()) break;
        await this.erase(folder);
        this.doneUpTo = id;
      }
      await this.folders.noteErasedUpTo(this.doneUpTo, [...this.left]);
    }
  }

  private goesOn(): boolean {
    return !this.isStopped && this.left.size < MOST_LEFT;
  }

  private async tryAgain(): Promise<void> {
    const before = this.left.size;
    if (before === 0 || (this.triedAt > 0 && performance.now() - this.triedAt < AGAIN_MS)) return;
    this.triedAt = performance.now();
    for (const folder of [...this.left]) if (!this.isStopped) await this.erase(folder);
    if (this.left.size < before) await this.folders.noteErasedUpTo(this.doneUpTo, [...this.left]);
  }

  /** Never rejects. */
  private async erase(folder: string): Promise<void> {
    try {
      await this.servers.closeUsersOf(folder);
      await this.folders.erase(folder);
      this.left.delete(folder);
    } catch (error) {
      if (!this.left.has(folder))
        this.logger.error('the folder of an erased user could not be deleted; will retry every minute', {
          folder,
          error: String(error),
        });
      this.left.add(folder);
    }
  }
}
