import { copyFile, open, readFile, stat, truncate } from 'node:fs/promises';
import { tail } from './server-command.js';

const largestBytes = 1 << 20;

/** The file that the server writes its few lines to; it outlives us, so a pipe would not do. Kept below 1 MiB and one older copy. */
export class ServerLog {
  constructor(private readonly path: string) {}

  /** For the server's standard output and error. */
  async withDescriptor<T>(use: (descriptor: number) => T): Promise<T> {
    await this.trim();
    const file = await open(this.path, 'a', 0o600);
    try {
      return use(file.fd);
    } finally {
      await file.close();
    }
  }

  /** The server appends, so that emptying the file under it is safe. */
  async trim(): Promise<void> {
    if ((await this.size()) <= largestBytes) return;
    await copyFile(this.path, `${this.path}.1`);
    await truncate(this.path, 0);
  }

  async size(): Promise<number> {
    return await stat(this.path).then(
      ({ size }) => size,
      () => 0,
    );
  }

  /** The last lines that were written after the file had `size` bytes. */
  async linesSince(size: number): Promise<string> {
    const bytes = await readFile(this.path).catch(() => Buffer.alloc(0));
    return tail(bytes.subarray(size).toString('utf8'));
  }
}
