/** The parts of a hand-written module. */
export interface ModuleParts {
  /** Imports, memories, tables, helpers. */
  readonly declarations?: string;
  /** The body of `call`; it ends with the i32 to return. */
  readonly call?: string;
  /** What `call` does before it returns `text`. */
  readonly work?: string;
  /** What the module does in `describe` before it returns its tools. */
  readonly describe?: string;
  /** The tool's result unless `call` does something else. */
  readonly text?: string;
}

const HOST = `
  (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
  (import "extism:host/env" "store_u8" (func $store (param i64 i32)))
  (import "extism:host/env" "length" (func $length (param i64) (result i64)))
  (import "extism:host/env" "output_set" (func $output (param i64 i64)))`;
/** Copies bytes of the linear memory into a host buffer and sets them as the output. */
const HELPERS = `
  (func $put (param $from i32) (param $count i32) (result i64)
    (local $at i32) (local $to i64)
    (local.set $to (call $alloc (i64.extend_i32_u (local.get $count))))
    (block $done (loop $next
      (br_if $done (i32.ge_u (local.get $at) (local.get $count)))
      (call $store (i64.add (local.get $to) (i64.extend_i32_u (local.get $at)))
        (i32.load8_u (i32.add (local.get $from) (local.get $at))))
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (br $next)))
    (local.get $to))
  (func $answer (param $from i32) (param $count i32)
    (call $output (call $put (local.get $from) (local.get $count)) (i64.extend_i32_u (local.get $count))))
  (func $answer_buffer (param $buffer i64)
    (call $output (local.get $buffer) (call $length (local.get $buffer))))`;
export const FIRST_TEXT_AT = 8192;
const TEXT_BYTES = 4096;

/** A module with one tool, \`act\`, in WebAssembly text format. */
export function moduleText({
  declarations = '(memory 1)',
  describe = '',
  ...parts
}: ModuleParts = {}): string {
  const tools = JSON.stringify({
    tools: [{ name: 'act', description: 'Acts.', inputSchema: { type: 'object' } }],
  });
  const answer = JSON.stringify({ content: [{ type: 'text', text: parts.text ?? 'done' }] });
  const lines = declarations.split('\n');
  const imports = lines.filter((line) => line.includes('(import ')).join('\n');
  const rest = lines.filter((line) => !line.includes('(import ')).join('\n');
  return `(module ${HOST} ${imports} ${rest} ${HELPERS}
    (data (i32.const 1024) ${data(tools)})
    (data (i32.const 4096) ${data(answer)})
    (func (export "describe") (result i32) ${describe}
      (call $answer (i32.const 1024) (i32.const ${Buffer.byteLength(tools)})) (i32.const 0))
    (func (export "call") (result i32)
      ${parts.call ?? `${parts.work ?? ''} (call $answer (i32.const 4096) (i32.const ${Buffer.byteLength(answer)})) (i32.const 0)`}))`;
}

/** Declares imports of host functions, by name. */
export function hostImport(name: string, type: string): string {
  return `(import "extism:host/env" "${name}" (func $${name} ${type}))`;
}

/** Functions `$text_0`, `$text_1` … that put these texts, of at most 4 KiB each, into host buffers. */
export function texts(...all: readonly string[]): string {
  const declared = all.map((text, index) => {
    const at = FIRST_TEXT_AT + index * TEXT_BYTES;
    return `(data (i32.const ${at}) ${data(text)}) (func $text_${index} (result i64)
(call $put (i32.const ${at}) (i32.const ${Buffer.byteLength(text)})))`;
  });
  return `(memory 2)\n${declared.join('\n')}`;
}

/** For a module that sends the request stored under `request` in its configuration. */
export const FETCHING = [
  hostImport('config_get', '(param i64) (result i64)'),
  hostImport('http_request', '(param i64 i64) (result i64)'),
  texts('request'),
].join('\n');
/** The buffer with the response. */
export const FETCH = '(call $http_request (call $config_get (call $text_0)) (i64.const 0))';

/** The permissions and the configuration of such a plugin. */
export function fetchPermissions(host: string, request: object): string {
  return `[permissions]\nconfig = true\nnet.http = ["${host}"]\n[config]\nrequest = '${JSON.stringify(request)}'\n`;
}

function data(text: string): string {
  const bytes = [...Buffer.from(text)].map((byte) => `\\${byte.toString(16).padStart(2, '0')}`);
  return `"${bytes.join('')}"`;
}
