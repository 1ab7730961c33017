import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { TestGateway } from './gateway.js';

const run = promisify(execFile);
const ASSEMBLER = resolve('node_modules/binaryen/bin/wasm-as');

export interface PluginView {
  readonly name: string;
  readonly version: string;
  readonly status: string;
  readonly capabilities: readonly string[];
  readonly memory_usage_bytes: number;
  readonly error?: string;
}

/** What a hand-written module has beside its functions. */
export interface ModuleParts {
  /** Imports, memories, tables, helpers. */
  readonly declarations?: string;
  /** The body of `call`; it ends with the i32 that it answers. */
  readonly call?: string;
  /** What `call` does before it answers `text`. */
  readonly work?: string;
  /** What is done when the module is described, before its tools are told. */
  readonly describe?: string;
  /** What the tool answers unless `call` does something else. */
  readonly text?: string;
}

const HOST = `
  (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
  (import "extism:host/env" "store_u8" (func $store (param i64 i32)))
  (import "extism:host/env" "output_set" (func $output (param i64 i64)))`;
/** Writes bytes of the linear memory as the output. */
const ANSWER = `
  (func $answer (param $from i32) (param $length i32)
    (local $at i32) (local $to i64)
    (local.set $to (call $alloc (i64.extend_i32_u (local.get $length))))
    (block $done (loop $next
      (br_if $done (i32.ge_u (local.get $at) (local.get $length)))
      (call $store (i64.add (local.get $to) (i64.extend_i32_u (local.get $at)))
        (i32.load8_u (i32.add (local.get $from) (local.get $at))))
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (br $next)))
    (call $output (local.get $to) (i64.extend_i32_u (local.get $length))))`;

/** A module with one tool, \`act\`, in the text form of WebAssembly. */
export function moduleText({
  declarations = '(memory 1)',
  describe = '',
  ...parts
}: ModuleParts = {}): string {
  const tools = JSON.stringify({
    tools: [{ name: 'act', description: 'Acts.', inputSchema: { type: 'object' } }],
  });
  const answer = JSON.stringify({ content: [{ type: 'text', text: parts.text ?? 'done' }] });
  const imports = declarations
    .split('\n')
    .filter((line) => line.includes('(import '))
    .join('\n');
  const rest = declarations
    .split('\n')
    .filter((line) => !line.includes('(import '))
    .join('\n');
  return `(module ${HOST} ${imports} ${rest} ${ANSWER}
    (data (i32.const 1024) ${JSON.stringify(tools)})
    (data (i32.const 4096) ${JSON.stringify(answer)})
    (func (export "describe") (result i32) ${describe}
      (call $answer (i32.const 1024) (i32.const ${tools.length})) (i32.const 0))
    (func (export "call") (result i32)
      ${parts.call ?? `${parts.work ?? ''} (call $answer (i32.const 4096) (i32.const ${answer.length})) (i32.const 0)`}))`;
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

  /** The plugin that the gateway ships with. */
  async addShipped(): Promise<void> {
    await cp(resolve('plugins/measures'), join(this.directory, 'measures'), { recursive: true });
  }

  /** A plugin with a hand-written module. `more` is added to its manifest. */
  async add(name: string, text: string, more = '', version = '1.0.0'): Promise<void> {
    const source = join(this.folder, `${name}.wat`);
    const module = join(this.folder, `${name}.wasm`);
    await writeFile(source, text);
    await run(process.execPath, [ASSEMBLER, '--all-features', source, '-o', module]);
    await this.write(name, await readFile(module), more, version);
  }

  /** A plugin with these bytes for its module. */
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
