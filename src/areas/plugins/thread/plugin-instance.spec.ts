import {
  call,
  drop,
  i32,
  i64,
  unreachable,
  type WrittenModule,
  writtenModule,
} from '../../../../test/harness/written-module.js';
import { limitModule } from '../limit-module.js';
import { EXTISM_MODULE, ExtismHost } from './extism-host.js';
import { PluginInstance } from './plugin-instance.js';
import type { Grants } from './thread-messages.js';

const MIB = 1_048_576;
const NOTHING: Grants = { config: false, kv: false, log: false, http: false };
const quiet = { type: '>i', code: i32(0) } as const;
const host = (name: string, type: '>I' | 'I>I' | 'I>' | 'II>' | 'i>') => ({
  module: EXTISM_MODULE,
  name,
  type,
});
const wasi = (name: string, type: 'i>' | 'ii>i') => ({ module: 'wasi_snapshot_preview1', name, type });

function compile(written: WrittenModule, grants = NOTHING): PluginInstance {
  const host = { log: () => undefined, http: () => ({ problem: 'none' }) };
  const extism = new ExtismHost(4 * MIB, grants, new Map(), host);
  return PluginInstance.compile(limitModule(writtenModule(written), MIB), extism, grants);
}

const calling = (code: readonly number[], more: Partial<WrittenModule> = {}): WrittenModule => ({
  functions: { describe: quiet, call: { type: '>i', code } },
  ...more,
});

describe('a module is refused', () => {
  test('that does not compile', () => {
    expect(() => compile(calling([]))).toThrow('its module does not compile');
  });

  test.each(['describe', 'call'])('that does not export %s', (missing) => {
    const other = missing === 'call' ? 'describe' : 'call';
    expect(() => compile({ functions: { [other]: quiet } })).toThrow(
      `it does not export a function "${missing}"`,
    );
  });

  test('that imports a function it was not granted', () => {
    const logs = calling(i32(0), { imports: [host('log_info', 'I>'), host('var_get', 'I>I')] });
    expect(() => compile(logs)).toThrow(
      'it imports extism:host/env.log_info, which needs the permission log; ' +
        'extism:host/env.var_get, which needs the permission kv',
    );
    expect(compile(logs, { ...NOTHING, log: true, kv: true }).run('call', '')).toBe('');
  });

  test.each([EXTISM_MODULE, 'env'])('that imports from %s a function this host does not have', (module) => {
    const wants = calling(i32(0), { imports: [{ module, name: 'system', type: '>' }] });
    expect(() => compile(wants)).toThrow(`it imports ${module}.system, which this host does not have`);
  });
});

test('a plugin can return its input as its output', () => {
  const echo = calling([...call(0), ...call(1), ...call(2), ...i32(0)], {
    imports: [host('input_offset', '>I'), host('input_length', '>I'), host('output_set', 'II>')],
  });
  const instance = compile(echo);
  expect([instance.run('call', 'naïve 😀'), instance.run('call', '')]).toEqual(['naïve 😀', '']);
});

test('a code other than 0 is an error, with the text of the plugin if it gave one', () => {
  expect(() => compile(calling(i32(3))).run('call', '')).toThrow(/^it answered with code 3$/);
  const saying = calling([...call(0), ...call(1), ...i32(3)], {
    imports: [host('input_offset', '>I'), host('error_set', 'I>')],
  });
  const instance = compile(saying);
  expect(() => instance.run('call', 'no such town')).toThrow(/^no such town$/);
  expect(() => instance.run('call', 'x'.repeat(900))).toThrow(/^x{500}$/);
});

test('a call without a code, or with a withdrawn error, has not failed', () => {
  const taken = calling([...call(0), ...call(1), ...i64(0), ...call(1), ...i32(0)], {
    imports: [host('input_offset', '>I'), host('error_set', 'I>')],
  });
  expect(compile(taken).run('call', 'no')).toBe('');
  expect(compile({ functions: { describe: { type: '>', code: [] }, call: quiet } }).run('describe', '')).toBe(
    '',
  );
});

test('an output over 1 MiB is refused', () => {
  const large = calling([...i64(MIB + 1), ...call(0), ...i64(MIB + 1), ...call(1), ...i32(0)], {
    imports: [host('alloc', 'I>I'), host('output_set', 'II>')],
  });
  expect(() => compile(large).run('call', '')).toThrow('its output has more than 1048576 bytes');
});

test('a trap is reported with its reason, and the next call has a new instance', () => {
  const starts: WrittenModule = {
    imports: [wasi('proc_exit', 'i>')],
    functions: {
      _initialize: { type: '>', code: [] },
      describe: quiet,
      call: { type: '>i', code: unreachable },
    },
  };
  const instance = compile(starts);
  expect(instance.run('describe', '')).toBe('');
  expect(instance.memoryBytes).toBe(131_072);
  expect(() => instance.run('call', '')).toThrow('it failed: unreachable');
  expect(instance.memoryBytes).toBe(65_536);
  expect(instance.run('describe', '')).toBe('');
});

test('a plugin that calls proc_exit only ends its call', () => {
  const ends = calling([...i32(7), ...call(0), ...i32(0)], { imports: [wasi('proc_exit', 'i>')] });
  expect(() => compile(ends).run('call', '')).toThrow('it failed: it ended itself with code 7');
});

test('random_get without a memory fails and reads nothing of the gateway', () => {
  const wants = calling([...i32(0), ...i32(8), ...call(0), ...drop, ...i32(0)], {
    imports: [wasi('random_get', 'ii>i')],
    hasMemory: false,
  });
  const instance = compile(wants);
  expect(() => instance.run('call', '')).toThrow('it failed: ');
  expect(instance.memoryBytes).toBe(65_536);
});
