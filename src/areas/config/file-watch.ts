import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';

const ABSENT = 'absent';

/**
 * Notices that the content of a file changed. It compares content instead of waiting for notifications: that also works
 * for a Kubernetes ConfigMap, whose folder is swapped by a symbolic link, and on every network file system.
 */
export class FileWatch {
  private settled: string | undefined;
  private seen: string | undefined;

  /** `path` is called at each poll, since a file may appear later. */
  constructor(private readonly path: () => string | undefined) {}

  /** Whether there is unsettled content that did not change since the last poll, so that no one is still writing it. */
  async hasNews(): Promise<boolean> {
    const before = this.seen;
    this.seen = await fingerprint(this.path());
    return this.seen === before && this.seen !== this.settled;
  }

  /** Marks the content of the last poll as applied, or as refused for good. */
  settle(): void {
    this.settled = this.seen;
  }
}

async function fingerprint(path: string | undefined): Promise<string> {
  if (path === undefined) return ABSENT;
  try {
    return createHash('sha256')
      .update(await readFile(path))
      .digest('base64');
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error);
  }
}
