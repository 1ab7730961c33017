import { ExtismHost, StoredValues } from './extism-host.js';
import type { Grants, HttpOutcome, HttpRequest } from './thread-messages.js';

const ALL: Grants = { config: true, kv: true, log: true, http: true };

function host(grants = ALL, outcome: HttpOutcome = { problem: 'no one is there' }) {
  const logged: string[] = [];
  const requests: HttpRequest[] = [];
  const extism = new ExtismHost(1_048_576, grants, new Map([['city', 'Wien']]), {
    log: (level, text) => logged.push(`${level}: ${text}`),
    http: (request) => {
      requests.push(request);
      return outcome;
    },
  });
  extism.reset(Buffer.from('input'));
  const use = (name: string, ...args: (bigint | number)[]): unknown => {
    const { run } = extism.functions.get(name) ?? {};
    return (run as ((...given: (bigint | number)[]) => unknown) | undefined)?.(...args);
  };
  const text = (value: string): bigint => BigInt(extism.memory.store(Buffer.from(value)));
  const read = (offset: unknown): string => Buffer.from(extism.memory.block(Number(offset))).toString();
  return { extism, logged, requests, use, text, read };
}

test('the input is read byte by byte, eight at once, or as a buffer', () => {
  const { use, read } = host();
  expect([use('input_length'), use('input_load_u8', 1n), read(use('input_offset'))]).toEqual([
    5n,
    0x6e,
    'input',
  ]);
  expect(use('input_load_u64', 0n)).toBe(Buffer.from('input\0\0\0').readBigUInt64LE());
});

test('a buffer is allocated, written, read and freed', () => {
  const { use } = host();
  const at = use('alloc', 16n) as bigint;
  use('store_u8', at, 1);
  use('store_u64', at + 8n, 2n);
  expect([use('load_u8', at), use('load_u64', at + 8n)]).toEqual([1, 2n]);
  expect([use('length', at), use('length_unsafe', at)]).toEqual([16n, 16n]);
  use('free', at);
  expect(use('length', at)).toBe(0n);
});

test('output and error hold for one call', () => {
  const { extism, use, text } = host();
  use('output_set', text('said'), 4n);
  use('error_set', text('wrong'));
  expect(extism.end()).toEqual({ output: new Uint8Array(Buffer.from('said')), error: 'wrong' });
  use('error_set', 0n);
  expect(extism.end().error).toBeUndefined();
  extism.reset(new Uint8Array());
  expect(extism.end()).toEqual({ output: new Uint8Array(), error: undefined });
});

test('configuration is read by key; a missing key is 0', () => {
  const { use, text, read } = host();
  expect(read(use('config_get', text('city')))).toBe('Wien');
  expect(use('config_get', text('country'))).toBe(0n);
});

test('values are stored between calls until they are deleted, and counted', () => {
  const { extism, use, text, read } = host();
  const before = extism.size;
  use('var_set', text('k'), text('kept'));
  extism.reset(new Uint8Array());
  expect([read(use('var_get', text('k'))), extism.size - before]).toEqual(['kept', 5]);
  use('var_set', text('k'), 0n);
  expect(use('var_get', text('k'))).toBe(0n);
});

describe('an HTTP request', () => {
  const answer = { status: 418, headers: { 'x-pot': 'tea' }, body: Buffer.from('short and stout') };

  test('brings body, status and headers, for this call', () => {
    const { extism, use, text, read, requests } = host(ALL, answer);
    expect([use('http_status_code'), use('http_headers')]).toEqual([0, 0n]);
    const request = { url: 'http://pot.test/', method: 'POST', headers: { accept: 1 } };
    expect(read(use('http_request', text(JSON.stringify(request)), text('leaves')))).toBe('short and stout');
    expect(requests).toEqual([
      { ...request, headers: { accept: '1' }, body: new Uint8Array(Buffer.from('leaves')) },
    ]);
    expect(use('http_status_code')).toBe(418);
    expect(read(use('http_headers'))).toBe('{"x-pot":"tea"}');
    extism.reset(new Uint8Array());
    expect(use('http_status_code')).toBe(0);
  });

  test('is a GET without headers by default', () => {
    const { use, text, requests } = host(ALL, answer);
    use('http_request', text('{"url":"http://pot.test/"}'), 0n);
    expect(requests).toMatchObject([{ method: 'GET', headers: {}, body: new Uint8Array() }]);
  });

  test('ends the call when it fails', () => {
    const { use, text } = host();
    expect(() => use('http_request', text('{"url":"http://pot.test/"}'), 0n)).toThrow('no one is there');
  });

  test.each([
    'null',
    '"http://pot.test/"',
    '{}',
    '{"url":7}',
    '{"url":"u","method":7}',
    '{"url":"u","headers":"x"}',
    '{"url":"u","headers":null}',
  ])('from %s is invalid and not made', (request) => {
    const { use, text, requests } = host(ALL, answer);
    expect(() => use('http_request', text(request), 0n)).toThrow('http_request needs');
    expect(requests).toEqual([]);
  });

  test('carries 64 headers at most', () => {
    const { use, text, requests } = host(ALL, answer);
    const headers = Object.fromEntries(Array.from({ length: 70 }, (_, at) => [`x-${at}`, 'v']));
    use('http_request', text(JSON.stringify({ url: 'http://pot.test/', headers })), 0n);
    expect(Object.keys(requests[0]?.headers ?? {})).toHaveLength(64);
  });
});

test('at most 100 lines of 2048 characters a call are logged, at the level that the plugin chose', () => {
  const { extism, use, text, logged } = host();
  use('log_warn', text('x'.repeat(3000)));
  const line = text('again');
  for (let count = 0; count < 120; count += 1) use('log_debug', line);
  expect(logged).toHaveLength(100);
  expect(logged.slice(0, 2)).toEqual([`warn: ${'x'.repeat(2048)}`, 'debug: again']);
  extism.reset(new Uint8Array());
  use('log_error', text('a new call'));
  expect(logged.at(-1)).toBe('error: a new call');
});

test('without the permission nothing is logged at any level', () => {
  expect([host().use('get_log_level'), host({ ...ALL, log: false }).use('get_log_level')]).toEqual([
    2, 0x7f_ff_ff_ff,
  ]);
});

const bytes = (length: number) => new Uint8Array(length);

test('stores 1,024 values, and can then still replace one', () => {
  const kept = new StoredValues();
  for (let index = 0; index < 1024; index += 1) kept.set(`key-${index}`, bytes(1));
  expect(() => kept.set('one more', bytes(1))).toThrow(RangeError);
  kept.set('key-7', bytes(9));
  expect(kept.get('key-7')).toHaveLength(9);
  kept.delete('key-7');
  kept.set('one more', bytes(1));
  expect([kept.get('key-7'), kept.get('one more')]).toEqual([undefined, bytes(1)]);
});

test('stores 1 MiB including the keys; replacing and deleting make room', () => {
  const kept = new StoredValues();
  kept.set('first', bytes(600_000));
  expect(() => kept.set('second', bytes(600_000))).toThrow('var_set stores at most');
  expect(kept.size).toBe(600_005);
  kept.set('first', bytes(400_000));
  kept.set('second', bytes(600_000));
  kept.delete('first');
  kept.delete('first');
  kept.delete('never there');
  expect(kept.size).toBe(600_006);
});

test('a key has at most 256 characters', () => {
  const kept = new StoredValues();
  expect(() => kept.set('k'.repeat(257), bytes(1))).toThrow(RangeError);
  expect(kept.size).toBe(0);
});
