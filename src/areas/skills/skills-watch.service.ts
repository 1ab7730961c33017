import { type FSWatcher, watch } from 'node:fs';
import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { type Logger, Logs } from '../../platform/logging/logger.js';
import { Poller } from '../../platform/runtime/poller.js';
import { Settings } from '../../platform/settings/settings.js';
import { SettingsChanges } from '../../platform/settings/settings-changes.js';
import { Skills } from './skills.service.js';

const POLL_MS = 250;
/** After a change, the writer of a file gets this long to finish. */
const QUIET_MS = 200;

/** Rescans the skills when something changes, and every `skills.rescan_secs`, because a swapped link raises no event. */
@Injectable()
export class SkillsWatch implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger: Logger;
  private readonly watches = new FolderWatches(() => {
    this.changedAt = performance.now();
  });
  private readonly poller = new Poller({
    everyMs: POLL_MS,
    look: async () => {
      if (this.isTime()) await this.read();
    },
    failed: (error) => this.logger.warn('skills could not be read; will retry', { error: String(error) }),
  });
  private stopListening: () => void = () => undefined;
  private changedAt: number | undefined;
  private isDue = false;
  private isWatchIncomplete = false;
  private scannedAt = 0;

  constructor(
    private readonly skills: Skills,
    private readonly settings: Settings,
    private readonly changes: SettingsChanges,
    logs: Logs,
  ) {
    this.logger = logs.for('skills');
  }

  async onApplicationBootstrap(): Promise<void> {
    this.stopListening = this.changes.listen(['skills', 'plugins'], () => {
      this.isDue = true;
    });
    await this.read();
    this.poller.start();
  }

  async onModuleDestroy(): Promise<void> {
    this.stopListening();
    await this.poller.stop();
    this.watches.close();
  }

  private isTime(): boolean {
    const now = performance.now();
    const { rescan_secs } = this.settings.current.skills;
    return (
      this.isDue ||
      (this.changedAt !== undefined && now - this.changedAt >= QUIET_MS) ||
      now - this.scannedAt >= rescan_secs * 1000 ||
      this.skills.havePluginsChanged
    );
  }

  /** Watches first, then scans, so that no change in between is missed. New folders are watched and scanned once more. */
  private async read(): Promise<void> {
    this.isDue = false;
    this.changedAt = undefined;
    this.follow();
    const before = this.skills.folders;
    await this.skills.rescan();
    this.scannedAt = performance.now();
    if ([...this.skills.folders].some((folder) => !before.has(folder))) this.isDue = true;
  }

  private follow(): void {
    const { watch } = this.settings.current.skills;
    const unwatched = this.watches.follow(watch ? this.skills.folders : []);
    if (unwatched.length > 0 && !this.isWatchIncomplete)
      this.logger.warn('skill folders cannot be watched; changes are noticed at the next rescan', {
        folders: unwatched.length,
      });
    this.isWatchIncomplete = unwatched.length > 0;
  }
}

/** Reports changes in folders, not in the folders below them. */
class FolderWatches {
  private readonly watchers = new Map<string, FSWatcher>();

  constructor(private readonly onChange: () => void) {}

  /**
   * Watches exactly these folders from now on. Restarts every watch, because a replaced folder has the same name.
   * @returns the folders that cannot be watched
   */
  follow(folders: Iterable<string>): readonly string[] {
    this.close();
    return [...folders].filter((folder) => !this.start(folder));
  }

  close(): void {
    for (const watcher of this.watchers.values()) watcher.close();
    this.watchers.clear();
  }

  private start(folder: string): boolean {
    try {
      const watcher = watch(folder, { persistent: false }, this.onChange);
      watcher.on('error', () => watcher.close());
      this.watchers.set(folder, watcher);
      return true;
    } catch (error) {
      // A missing folder needs no watch.
      return (error as NodeJS.ErrnoException).code === 'ENOENT';
    }
  }
}
