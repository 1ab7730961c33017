import { HostMemory } from './host-memory.js';
import type { Grants, HttpOutcome, HttpRequest, PluginLogLevel } from './thread-messages.js';

export const EXTISM_MODULE = 'extism:host/env';

const LEVELS: readonly PluginLogLevel[] = ['trace', 'debug', 'info', 'warn', 'error'];
/** Level numbers of the ABI. Without the permission the level is above all others. */
const INFO_LEVEL = 2;
const NO_LEVEL = 0x7f_ff_ff_ff;
const MAX_LOG_CHARACTERS = 2048;
const MAX_LOG_LINES = 100;
const MAX_REQUEST_HEADERS = 64;

/** The calls that leave the thread. */
export interface ThreadHost {
  log(level: PluginLogLevel, text: string): void;
  /** Blocks until the response arrives. */
  http(request: HttpRequest): HttpOutcome;
}

interface HostFunction {
  /** The permission it needs; absent when every plugin may call it. */
  readonly grant?: keyof Grants;
  readonly run: (...args: never[]) => unknown;
}

/** The host side of the Extism ABI for one plugin: input, output, buffers, and the functions it was granted. */
export class ExtismHost {
  readonly memory: HostMemory;
  readonly functions: ReadonlyMap<string, HostFunction>;
  private readonly values = new StoredValues();
  private input = 0;
  private output: Uint8Array = new Uint8Array();
  private error: string | undefined;
  private answer: Exclude<HttpOutcome, { problem: string }> | undefined;
  private logLines = 0;

  constructor(
    bufferBytes: number,
    private readonly grants: Grants,
    private readonly config: ReadonlyMap<string, string>,
    private readonly host: ThreadHost,
  ) {
    this.memory = new HostMemory(bufferBytes);
    this.functions = new Map(
      Object.entries({ ...this.buffers(), ...this.callImports(), ...this.granted(), ...this.logs() }),
    );
  }

  /** Bytes held for the plugin: buffers and stored values. */
  get size(): number {
    return this.memory.size + this.values.size;
  }

  /** Clears the previous call and sets the input of the next. */
  reset(input: Uint8Array): void {
    this.memory.reset();
    this.input = this.memory.store(input);
    this.output = new Uint8Array();
    this.error = undefined;
    this.answer = undefined;
    this.logLines = 0;
  }

  /** The output of the call, and the text it passed to `error_set`, if any. */
  end(): { readonly output: Uint8Array; readonly error: string | undefined } {
    return { output: this.output, error: this.error };
  }

  private buffers(): Record<string, HostFunction> {
    const { memory } = this;
    return {
      alloc: { run: (length: bigint) => BigInt(memory.alloc(Number(length))) },
      free: { run: (offset: bigint) => memory.free(Number(offset)) },
      length: { run: (offset: bigint) => BigInt(memory.lengthOf(Number(offset))) },
      length_unsafe: { run: (offset: bigint) => BigInt(memory.lengthOf(Number(offset))) },
      load_u8: { run: (offset: bigint) => memory.loadByte(Number(offset)) },
      load_u64: { run: (offset: bigint) => memory.loadLong(Number(offset)) },
      store_u8: { run: (offset: bigint, value: number) => memory.storeByte(Number(offset), value) },
      store_u64: { run: (offset: bigint, value: bigint) => memory.storeLong(Number(offset), value) },
    };
  }

  private callImports(): Record<string, HostFunction> {
    const { memory } = this;
    return {
      input_length: { run: () => BigInt(memory.lengthOf(this.input)) },
      input_offset: { run: () => BigInt(this.input) },
      input_load_u8: { run: (at: bigint) => memory.loadByte(this.input + Number(at)) },
      input_load_u64: { run: (at: bigint) => memory.loadLong(this.input + Number(at)) },
      output_set: {
        run: (offset: bigint, length: bigint) => {
          this.output = memory.read(Number(offset), Number(length));
        },
      },
      error_set: {
        run: (offset: bigint) => {
          this.error = offset === 0n ? undefined : this.text(offset);
        },
      },
    };
  }

  private granted(): Record<string, HostFunction> {
    return {
      config_get: { grant: 'config', run: (key: bigint) => this.given(this.config.get(this.text(key))) },
      var_get: { grant: 'kv', run: (key: bigint) => this.given(this.values.get(this.text(key))) },
      var_set: { grant: 'kv', run: (key: bigint, value: bigint) => this.keep(this.text(key), value) },
      http_request: {
        grant: 'http',
        run: (request: bigint, body: bigint) => this.request(this.text(request), body),
      },
      http_status_code: { grant: 'http', run: () => this.answer?.status ?? 0 },
      http_headers: {
        grant: 'http',
        run: () => this.given(this.answer && JSON.stringify(this.answer.headers)),
      },
    };
  }

  private logs(): Record<string, HostFunction> {
    const writers = LEVELS.map((level): [string, HostFunction] => [
      `log_${level}`,
      { grant: 'log', run: (text: bigint) => this.log(level, text) },
    ]);
    const level = this.grants.log ? INFO_LEVEL : NO_LEVEL;
    return { ...Object.fromEntries(writers), get_log_level: { run: () => level } };
  }

  private log(level: PluginLogLevel, text: bigint): void {
    this.logLines += 1;
    if (this.logLines > MAX_LOG_LINES) return;
    this.host.log(level, this.text(text).slice(0, MAX_LOG_CHARACTERS));
  }

  private keep(key: string, value: bigint): void {
    if (value === 0n) this.values.delete(key);
    else this.values.set(key, this.memory.block(Number(value)));
  }

  private request(text: string, body: bigint): bigint {
    const { url, method, headers } = requestOf(text);
    const outcome = this.host.http({ url, method, headers, body: this.memory.block(Number(body)) });
    if ('problem' in outcome) throw new Error(outcome.problem);
    this.answer = outcome;
    return BigInt(this.memory.store(outcome.body));
  }

  private text(offset: bigint): string {
    return new TextDecoder().decode(this.memory.block(Number(offset)));
  }

  private given(value: string | Uint8Array | undefined): bigint {
    if (value === undefined) return 0n;
    return BigInt(this.memory.store(typeof value === 'string' ? new TextEncoder().encode(value) : value));
  }
}

function requestOf(text: string): Omit<HttpRequest, 'body'> {
  const parsed: unknown = JSON.parse(text);
  const fields = typeof parsed === 'object' && parsed !== null ? (parsed as Record<string, unknown>) : {};
  const { url, method = 'GET', headers = {} } = fields;
  if (
    typeof url !== 'string' ||
    typeof method !== 'string' ||
    typeof headers !== 'object' ||
    headers === null
  ) {
    throw new Error('http_request needs {"url", "method", "headers"}');
  }
  const pairs = Object.entries(headers).slice(0, MAX_REQUEST_HEADERS);
  return { url, method, headers: Object.fromEntries(pairs.map(([name, value]) => [name, String(value)])) };
}

const MAX_VALUES = 1024;
const MAX_KEY_LENGTH = 256;
const MAX_BYTES = 1_048_576;

/** The values that a plugin stores between calls (`permissions.kv`), in the memory of its thread; lost when that ends. */
export class StoredValues {
  private readonly values = new Map<string, Uint8Array<ArrayBuffer>>();
  private bytes = 0;

  get size(): number {
    return this.bytes;
  }

  get(key: string): Uint8Array<ArrayBuffer> | undefined {
    return this.values.get(key);
  }

  /** Throws `RangeError` past 1,024 values, 256 characters a key and 1 MiB in all. */
  set(key: string, value: Uint8Array<ArrayBuffer>): void {
    const before = this.values.get(key);
    const bytes = this.bytes - sizeOf(key, before) + sizeOf(key, value);
    const isNew = before === undefined;
    if (key.length > MAX_KEY_LENGTH || bytes > MAX_BYTES || (isNew && this.values.size >= MAX_VALUES)) {
      throw new RangeError(`var_set stores at most ${MAX_VALUES} values and ${MAX_BYTES} bytes in all`);
    }
    this.values.set(key, value);
    this.bytes = bytes;
  }

  delete(key: string): void {
    this.bytes -= sizeOf(key, this.values.get(key));
    this.values.delete(key);
  }
}

function sizeOf(key: string, value: Uint8Array | undefined): number {
  return value === undefined ? 0 : Buffer.byteLength(key) + value.length;
}
