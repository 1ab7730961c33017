import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { TestGateway } from './gateway.js';

const run = promisify(execFile);
const ASSEMBLER = [resolve('test/harness/assemble.mjs'), resolve('node_modules/binaryen/index.js')];

export interface PluginView {
  readonly name: string;
  readonly version: string;
  readonly status: string;
  readonly capabilities: readonly string[];
  readonly memory_usage_bytes: number;
  readonly error?: string;
}

/** A plugin with a module in WebAssembly text format, and additions to its manifest. */
export interface HandWritten {
  readonly text: string;
  readonly more?: string;
  readonly version?: string;
}

/** A folder of plugins, and the settings that name it. */
export class PluginBench {
  private constructor(readonly folder: string) {}

  static async make(): Promise<PluginBench> {
    const bench = new PluginBench(await mkdtemp('/tmp/agw-plugins-'));
    await mkdir(bench.directory);
    return bench;
  }

  get directory(): string {
    return join(this.folder, 'plugins');
  }

  get env(): Record<string, string> {
    return { GATEWAY__PLUGINS__DIRECTORY: this.directory };
  }

  /** The shipped plugin. */
  async addShipped(): Promise<void> {
    await cp(resolve('plugins/measures'), join(this.directory, 'measures'), { recursive: true });
  }

  /** A plugin with a hand-written module. `more` is added to its manifest. */
  add(name: string, text: string, more = '', version = '1.0.0'): Promise<void> {
    return this.addAll({ [name]: { text, more, version } });
  }

  /** Adds several at once, by name: the assembler takes longer to start than to assemble. */
  async addAll(plugins: Readonly<Record<string, HandWritten>>): Promise<void> {
    const names = Object.keys(plugins);
    const sources = names.map((name) => join(this.folder, `${name}.wat`));
    await Promise.all(names.map((name, at) => writeFile(sources[at] ?? '', plugins[name]?.text ?? '')));
    await run(process.execPath, [...ASSEMBLER, ...sources]);
    for (const [name, { more, version }] of Object.entries(plugins)) {
      await this.write(name, await readFile(join(this.folder, `${name}.wasm`)), more, version);
    }
  }

  /** A plugin whose module has these bytes. */
  async write(name: string, wasm: Buffer, more = '', version = '1.0.0'): Promise<void> {
    const folder = join(this.directory, name);
    await mkdir(folder, { recursive: true });
    const sha256 = createHash('sha256').update(wasm).digest('hex');
    await writeFile(join(folder, 'plugin.wasm'), wasm);
    await this.writeManifest(
      name,
      `name = "${name}"\nversion = "${version}"\ntype = "tool"\nwasm = "plugin.wasm"\nsha256 = "${sha256}"\n` +
        `capabilities = ["tool:act"]\n${more}`,
    );
  }

  async writeManifest(name: string, text: string): Promise<void> {
    await mkdir(join(this.directory, name), { recursive: true });
    await writeFile(join(this.directory, name, 'plugin.toml'), text);
  }

  read(name: string, file: string): Promise<Buffer> {
    return readFile(join(this.directory, name, file));
  }

  clear(): Promise<void> {
    return rm(this.folder, { recursive: true, force: true });
  }
}

export async function pluginB(gateway: TestGateway, name: string): Promise<PluginView | undefined> {
  const { body } = await gateway.b.get<{ plugins: PluginView[] }>('/plugins');
  return body.plugins.find((plugin) => plugin.name === name);
}
