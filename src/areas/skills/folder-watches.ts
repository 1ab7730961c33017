import { type FSWatcher, watch } from 'node:fs';

/** Hears of changes in folders, not of those below them. Folders that cannot be watched are left out. */
export class FolderWatches {
  private readonly watchers = new Map<string, FSWatcher>();

  constructor(private readonly onChange: () => void) {}

  /** Watches exactly these from now on, anew: a folder that was replaced has the same name. @returns those it cannot */
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
      // One that is gone is missed by nobody.
      return (error as NodeJS.ErrnoException).code === 'ENOENT';
    }
  }
}
