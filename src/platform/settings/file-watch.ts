import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';

const ABSENT = 'absent';

/**
 * Notices that a file has another content. It compares contents, not notifications: that also sees a Kubernetes
 * ConfigMap whose folder is swapped by a symbolic link, and every network file system.
 */
export class FileWatch {
  private settled: string | undefined;
  private seen: string | undefined;

  /** `path` is asked at each look, since a file may appear later. */
  constructor(private readonly path: () => string | undefined) {}

  /** Whether there is a content that was not judged and was the same at the last look: nobody is still writing it. */
  async hasNews(): Promise<boolean> {
    const before = this.seen;
    this.seen = await fingerprint(this.path());
    return this.seen === before && this.seen !== this.settled;
  }

  /** The content of the last look was taken, or refused for good. */
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
