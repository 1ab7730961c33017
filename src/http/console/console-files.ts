import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { Injectable } from '@nestjs/common';
import { packageRoot } from '../../common/package-root.js';

const PAGE = 'index.html';
const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** A file of the console, with what the build compressed of it. */
export interface ConsoleFile {
  readonly mediaType: string;
  readonly etag: string;
  /** Whether its name changes with its content, so that browsers need not ask again. */
  readonly named: boolean;
  readonly content: Buffer;
  readonly compressed: Readonly<Partial<Record<'br' | 'gzip', Buffer>>>;
}

/**
 * The files of `dist/console`, all read at the first request: the page and the scripts that it names stay together when a
 * build replaces them under a running gateway.
 */
@Injectable()
export class ConsoleFiles {
  private files: Promise<ReadonlyMap<string, ConsoleFile>> | undefined;

  /** @param folder where the build put them */
  constructor(private readonly folder = join(packageRoot(), 'dist', 'console')) {}

  /** Undefined when nothing was built. */
  page(): Promise<ConsoleFile | undefined> {
    return this.find(PAGE);
  }

  /** A file by its path below `/console/`; undefined when there is none. */
  async find(path: string): Promise<ConsoleFile | undefined> {
    this.files ??= readFiles(this.folder);
    return (await this.files).get(path);
  }
}

async function readFiles(folder: string): Promise<Map<string, ConsoleFile>> {
  const entries = await readdir(folder, { recursive: true }).catch(() => []);
  const names = entries.map((name) => name.replaceAll('\\', '/'));
  const files = names.filter((name) => Object.hasOwn(MEDIA_TYPES, extname(name)));
  const read = files.map(async (name) => [name, await readConsoleFile(folder, name, names)] as const);
  return new Map(await Promise.all(read));
}

async function readConsoleFile(folder: string, name: string, all: readonly string[]): Promise<ConsoleFile> {
  const variant = (suffix: string) =>
    all.includes(name + suffix) ? readFile(join(folder, name + suffix)) : undefined;
  const [content, br, gzip] = await Promise.all([
    readFile(join(folder, name)),
    variant('.br'),
    variant('.gz'),
  ]);
  return {
    mediaType: MEDIA_TYPES[extname(name)] ?? '',
    etag: `"${createHash('sha256').update(content).digest('base64url')}"`,
    named: name !== PAGE,
    content,
    compressed: { ...(br && { br }), ...(gzip && { gzip }) },
  };
}
