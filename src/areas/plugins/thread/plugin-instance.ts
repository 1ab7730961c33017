import { sentenceOf } from '../../../common/errors/error-text.js';
import { MEMORY_NAME } from '../limit-module.js';
import { PluginProblem } from '../plugin.js';
import { EXTISM_MODULE, type ExtismHost } from './extism-host.js';
import type { Grants } from './thread-messages.js';
import { WASI_MODULE, wasiFunction } from './wasi-imports.js';

const MAX_OUTPUT_BYTES = 1_048_576;
const MAX_REASON_CHARACTERS = 500;
const GRANT_LABELS: Readonly<Record<keyof Grants, string>> = {
  config: 'config',
  kv: 'kv',
  log: 'log',
  http: 'net.http',
};

/** A compiled module with its host. After a trap the next call starts with a new instance. */
export class PluginInstance {
  private instance: WebAssembly.Instance | undefined;

  private constructor(
    private readonly module: WebAssembly.Module,
    private readonly host: ExtismHost,
  ) {}

  /** Throws `PluginProblem` for a module that does not compile, has imports it was not granted, or lacks an export. */
  static compile(bytes: Uint8Array<ArrayBuffer>, host: ExtismHost, grants: Grants): PluginInstance {
    const module = compiled(bytes);
    const refused = WebAssembly.Module.imports(module).flatMap((one) => refusalOf(one, host, grants) ?? []);
    if (refused.length > 0) throw new PluginProblem(`it imports ${refused.slice(0, 5).join('; ')}`);
    const functions = WebAssembly.Module.exports(module).filter(({ kind }) => kind === 'function');
    for (const exported of ['describe', 'call']) {
      if (!functions.some(({ name }) => name === exported)) {
        throw new PluginProblem(`it does not export a function "${exported}"`);
      }
    }
    return new PluginInstance(module, host);
  }

  /** Linear memory and the host's buffers, in bytes. */
  get memoryBytes(): number {
    return (this.instance === undefined ? 0 : this.linearMemory().byteLength) + this.host.size;
  }

  /** Throws `PluginProblem` for a trap, and for an error that the plugin itself reports. */
  run(name: 'describe' | 'call', input: string): string {
    const { output, error } = this.attempt(name, new TextEncoder().encode(input));
    if (error !== undefined) throw new PluginProblem(error.slice(0, MAX_REASON_CHARACTERS));
    if (output.length > MAX_OUTPUT_BYTES) {
      throw new PluginProblem(`its output has more than ${MAX_OUTPUT_BYTES} bytes`);
    }
    return new TextDecoder().decode(output);
  }

  private attempt(
    name: 'describe' | 'call',
    input: Uint8Array,
  ): { output: Uint8Array; error: string | undefined } {
    try {
      const { exports } = this.started();
      this.host.reset(input);
      const code = (exports[name] as () => unknown)();
      const { output, error } = this.host.end();
      const failed = typeof code === 'number' && code !== 0;
      return { output, error: failed ? (error ?? `it answered with code ${code}`) : undefined };
    } catch (error) {
      // After a trap its memory may be in any state.
      this.instance = undefined;
      throw new PluginProblem(`it failed: ${sentenceOf(error).slice(0, MAX_REASON_CHARACTERS)}`);
    }
  }

  private started(): WebAssembly.Instance {
    if (this.instance !== undefined) return this.instance;
    const instance = new WebAssembly.Instance(this.module, this.imports());
    this.instance = instance;
    this.host.reset(new Uint8Array());
    const { _initialize: initialize } = instance.exports;
    if (typeof initialize === 'function') (initialize as () => unknown)();
    return instance;
  }

  private imports(): Record<string, WebAssembly.ModuleImports> {
    const extism: WebAssembly.ModuleImports = {};
    const wasi: WebAssembly.ModuleImports = {};
    for (const { module, name } of WebAssembly.Module.imports(this.module)) {
      if (module === WASI_MODULE) wasi[name] = wasiFunction(name, () => this.linearMemory());
      else extism[name] = this.functionOf(name);
    }
    return { [EXTISM_MODULE]: extism, [WASI_MODULE]: wasi };
  }

  private functionOf(name: string): WebAssembly.ImportFunction {
    const offered = this.host.functions.get(name);
    if (offered === undefined) throw new PluginProblem(`there is no ${name}`);
    return offered.run;
  }

  private linearMemory(): ArrayBuffer {
    const memory = this.instance?.exports[MEMORY_NAME];
    return memory instanceof WebAssembly.Memory ? memory.buffer : new ArrayBuffer(0);
  }
}

function compiled(bytes: Uint8Array<ArrayBuffer>): WebAssembly.Module {
  try {
    return new WebAssembly.Module(bytes);
  } catch (error) {
    throw new PluginProblem(`its module does not compile: ${sentenceOf(error).slice(0, 200)}`);
  }
}

/** Why this import is refused; undefined when it is not. */
function refusalOf(
  { module, name, kind }: WebAssembly.ModuleImportDescriptor,
  host: ExtismHost,
  grants: Grants,
): string | undefined {
  const shown = `${module}.${name}`.slice(0, 100);
  if (kind !== 'function') return `${shown}, and only functions can be imported`;
  if (module === WASI_MODULE) return undefined;
  const offered = module === EXTISM_MODULE ? host.functions.get(name) : undefined;
  if (offered === undefined) return `${shown}, which this host does not have`;
  if (offered.grant === undefined || grants[offered.grant]) return undefined;
  return `${shown}, which needs the permission ${GRANT_LABELS[offered.grant]}`;
}
