import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { type Logger, Logs } from '../../platform/logging/logger.js';
import { Settings } from '../../platform/settings/settings.js';
import {
  type PreparedChange,
  type SettingsChange,
  type SettingsSubscriber,
  touches,
} from '../../platform/settings/settings-subscriber.js';
import { SettingsSubscribers } from '../../platform/settings/settings-subscribers.js';
import { FolderWatches } from './folder-watches.js';
import { Skills } from './skills.service.js';

const POLL_MS = 250;
/** Whoever writes a file is given this long to end. */
const QUIET_MS = 200;

/** Reads skills again when something changes; and every now and then, since a swapped link makes no noise. */
@Injectable()
export class SkillsWatch implements OnApplicationBootstrap, OnModuleDestroy, SettingsSubscriber {
  readonly name = 'skills';
  private readonly logger: Logger;
  private readonly stopped = new AbortController();
  private readonly watches = new FolderWatches(() => {
    this.heardAt = performance.now();
  });
  private watching: Promise<void> = Promise.resolve();
  private unsubscribe: () => void = () => undefined;
  private heardAt: number | undefined;
  private isDue = false;
  private isUnwatchable = false;
  private scannedAt = 0;

  constructor(
    private readonly skills: Skills,
    private readonly settings: Settings,
    private readonly subscribers: SettingsSubscribers,
    logs: Logs,
  ) {
    this.logger = logs.for('skills');
  }

  async onApplicationBootstrap(): Promise<void> {
    this.unsubscribe = this.subscribers.add(this);
    await this.read();
    this.watching = this.watch();
  }

  async onModuleDestroy(): Promise<void> {
    this.unsubscribe();
    this.stopped.abort();
    await this.watching;
    this.watches.close();
  }

  prepare(change: SettingsChange): Promise<PreparedChange | undefined> {
    if (!touches(change, 'skills') && !touches(change, 'plugins')) return Promise.resolve(undefined);
    const commit = (): void => {
      this.isDue = true;
    };
    return Promise.resolve({ commit });
  }

  private async watch(): Promise<void> {
    const { signal } = this.stopped;
    while (!signal.aborted) {
      if (this.isTime()) await this.read();
      await sleep(POLL_MS, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  private isTime(): boolean {
    const now = performance.now();
    const { rescan_secs } = this.settings.current.skills;
    return (
      this.isDue ||
      (this.heardAt !== undefined && now - this.heardAt >= QUIET_MS) ||
      now - this.scannedAt >= rescan_secs * 1000 ||
      this.skills.arePluginsOthers
    );
  }

  /** Watches first, then reads: what changes in between is heard. New folders are watched, and then read once more. */
  private async read(): Promise<void> {
    this.isDue = false;
    this.heardAt = undefined;
    this.follow();
    const before = this.skills.folders;
    await this.skills.rescan();
    this.scannedAt = performance.now();
    if ([...this.skills.folders].some((folder) => !before.has(folder))) this.isDue = true;
  }

  private follow(): void {
    const { watch } = this.settings.current.skills;
    const silent = this.watches.follow(watch ? this.skills.folders : []);
    if (silent.length > 0 && !this.isUnwatchable)
      this.logger.warn('folders of skills cannot be watched; changes are noticed when they are read again', {
        folders: silent.length,
      });
    this.isUnwatchable = silent.length > 0;
  }
}
