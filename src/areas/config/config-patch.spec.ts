import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { SecretBox } from '../../platform/secrets/secret-box.js';
import { CandidateBuilder } from '../../platform/settings/candidate-builder.js';
import type { Table } from '../../platform/settings/dotted-path.js';
import { keyMarks } from '../../platform/settings/key-marks.js';
import { redactionMarker } from '../../platform/settings/redaction.js';
import { jsonSchema, settingsRoot } from '../../platform/settings/settings-tree.js';
import { InvalidSettings } from '../../platform/settings/settings-validation.js';
import { FileOnlySettings } from './config.errors.js';
import { type PatchItem, readPatch } from './config-patch.js';
import { unfitItems } from './override-edits.js';

/** A tree with every kind of node, independent of the gateway's own schema. */
const root = settingsRoot(
  jsonSchema(
    z.strictObject({
      agent: z.strictObject({ max_turns: z.int().default(1), tags: z.array(z.string()).default([]) }),
      servers: z.record(
        z.string(),
        z.strictObject({
          url: z.string().default(''),
          token: z.string().default('').register(keyMarks, { secret: true }),
          command: z.string().default('').register(keyMarks, { fileOnly: true }),
          headers: z.record(z.string(), z.string()).default({}),
        }),
      ),
    }),
  ),
);

const read = (body: Table, isStored = (_key: string) => false) =>
  readPatch(body, { maySetSecurity: true, isStored, valueProblems: () => [] }, root);

/** `key: message` of everything that is wrong with a body. */
function problemsOf(body: Table): readonly string[] {
  try {
    read(body);
  } catch (error) {
    if (error instanceof InvalidSettings)
      return error.problems.map(({ key, message }) => `${key}: ${message}`);
    throw error;
  }
  throw new Error('This body should have been refused.');
}

/** Like a request body: parsed JSON has own properties of every name. */
const fromJson = (text: string) => JSON.parse(text) as Table;

describe('reading a PATCH', () => {
  test('a dotted key is one item, and a secret is marked', () => {
    expect(read({ 'agent.max_turns': 3, 'servers.one.token': 'x' })).toEqual([
      { key: 'agent.max_turns', value: 3, secret: false },
      { key: 'servers.one.token', value: 'x', secret: true },
    ]);
    expect(read({})).toEqual([]);
  });

  test('an object for a section, a collection or a thing sets the keys in it', () => {
    const items = [
      { key: 'agent.max_turns', value: 3, secret: false },
      { key: 'servers.one.url', value: 'u', secret: false },
      { key: 'servers.one.headers', value: { A: 'b' }, secret: false },
    ];
    expect(read({ agent: { max_turns: 3 }, servers: { one: { url: 'u', headers: { A: 'b' } } } })).toEqual(
      items,
    );
    expect(read({ 'agent.max_turns': 3, 'servers.one': { url: 'u', headers: { A: 'b' } } })).toEqual(items);
  });

  test('null resets a key, a thing or a whole section, also within an object', () => {
    expect(read({ 'agent.max_turns': null, 'servers.one': null }).map(({ key }) => key)).toEqual([
      'agent.max_turns',
      'servers.one',
    ]);
    expect(read({ agent: null, servers: { one: { url: null } } })).toEqual([
      { key: 'agent', value: null, secret: false },
      { key: 'servers.one.url', value: null, secret: false },
    ]);
  });

  test('null also removes a stored key that the schema no longer knows, but no other unknown key', () => {
    expect(read({ 'gone.key': null }, (key) => key === 'gone.key')).toHaveLength(1);
    expect(() => read({ 'gone.key': 1 }, () => true)).toThrow(InvalidSettings);
    expect(() => read({ 'gone.key': null })).toThrow(InvalidSettings);
  });

  test('everything that is wrong is listed at once, with the nearest key', () => {
    expect(
      problemsOf({
        'agent.max_turn': 1,
        agent: 5,
        'servers.one': {},
        'agent.tags.0': 'x',
        'servers.one.headers.A': 'x',
        'servers.one.url': redactionMarker,
        'servers.two': { headers: { A: ` ${redactionMarker} ` } },
      }),
    ).toEqual([
      'agent.max_turn: unknown key; the nearest is agent.max_turns',
      'agent: is a section; set its keys',
      'servers.one: needs at least one of its keys',
      'agent.tags.0: is part of a value; set the whole value',
      'servers.one.headers.A: is part of a value; set the whole value',
      'servers.one.url: holds the redaction marker; send the real value or leave it out',
      'servers.two: holds the redaction marker; send the real value or leave it out',
    ]);
  });

  test('a wrong key does not hide a wrong value, and earlier problems are not listed', () => {
    const box = new SecretBox(randomBytes(32));
    const builder = new CandidateBuilder(box, []);
    const stored = { revision: '1', rows: [{ key: 'memory.top_k', content: { value: 'many' } }] };
    const base = builder.build([], stored);
    const valueProblems = (items: readonly PatchItem[]) => unfitItems(items, base, { builder, box });
    const body = { 'agent.max_turn': 3, 'agent.on_busy': 'drop', 'agent.max_turns': 7 };
    try {
      readPatch(body, { maySetSecurity: true, isStored: () => false, valueProblems });
      throw new Error('This body should have been refused.');
    } catch (error) {
      expect(error).toBeInstanceOf(InvalidSettings);
      expect((error as InvalidSettings).problems.map(({ key, message }) => `${key}: ${message}`)).toEqual([
        'agent.max_turn: unknown key; the nearest is agent.max_turns',
        'agent.on_busy: expected one of "queue", "reject"',
      ]);
    }
  });

  test('two items for one key are refused, even with other keys between them', () => {
    expect(problemsOf({ agent: { max_turns: 1 }, 'agent.max_turns': 2 })).toEqual([
      'agent.max_turns: is set twice',
    ]);
    expect(problemsOf({ 'servers.a': null, 'servers.a-b.url': 'x', 'servers.a.url': 'y' })).toEqual([
      'servers.a.url: is also set by servers.a',
    ]);
  });

  test('keys that only the file may set are refused at any depth, after wrong keys', () => {
    expect(() => read({ 'servers.one': { url: 'u', command: 'rm' } })).toThrow(FileOnlySettings);
    expect(() => read({ 'servers.one.command': null })).toThrow(FileOnlySettings);
    expect(() => read({ 'servers.one.command': 'rm', nope: 1 })).toThrow(InvalidSettings);
    expect(() => read({ 'servers.one.command': redactionMarker })).toThrow(InvalidSettings);
  });

  test('a body of very many keys is refused quickly', () => {
    const many = (key: (index: number) => string): Table =>
      Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [key(index), 1]));
    expect(problemsOf(many((index) => `agent.max_turn_${index}`))).toEqual([
      ': at most 1000 keys may be changed at once',
    ]);
    expect(problemsOf(many((index) => `servers.s${index}.url`))).toEqual([
      ': at most 1000 keys may be changed at once',
    ]);
  });
});

describe('hostile keys', () => {
  const unsafe = ['__proto__', 'constructor', 'prototype'];
  const shapes = [
    (name: string) => name,
    (name: string) => `${name}.polluted`,
    (name: string) => `agent.${name}`,
    (name: string) => `agent.${name}.polluted`,
    (name: string) => `agent.max_turns.${name}`,
    (name: string) => `servers.${name}`,
    (name: string) => `servers.${name}.url`,
    (name: string) => `servers.one.${name}.polluted`,
    (name: string) => `servers.one.headers.${name}`,
    (name: string) => `${name}.${name}.${name}`,
  ];
  const odd = [
    '',
    '.',
    '..',
    '.agent',
    'agent.',
    'agent..max_turns',
    '.agent.max_turns',
    'agent.max_turns.',
    ' agent.max_turns',
    'agent.max_turns ',
    'agent .max_turns',
    'AGENT.MAX_TURNS',
    'agent[max_turns]',
    "agent['max_turns']",
    'agent/max_turns',
    'agent\\.max_turns',
    'agent.max_turns\n',
    'agent\u0000.max_turns',
    '$.agent.max_turns',
    '$',
    '*',
    'agent.*',
    '#',
    'toString',
    'valueOf',
    'hasOwnProperty',
    '__defineGetter__',
    '__lookupSetter__',
    'agent.toString',
    'agent.valueOf',
    'agent.hasOwnProperty',
    'agent.__defineGetter__.x',
    'agent.max_turns.toFixed',
    'agent.max_turns.constructor',
    'agent.tags.length',
    'agent.tags.-1',
    'agent.tags.push',
    'agent.tags.1e9',
    'agent.tags.4294967295',
    'agent.max_turns.0',
    'agent.0',
    '0',
    '-1',
    'NaN',
    'null',
    'undefined',
    'true',
    `\${HOME}`,
    `agent.\${HOME}`,
    '%2e%2e',
    'agent%2Emax_turns',
    '../agent',
    'agent/../agent',
    'ａgent.max_turns',
    'agent．max_turns',
    '\u202eagent.max_turns',
    'agent.max_turns\u200b',
    'a'.repeat(100_000),
    'a.'.repeat(50_000),
    '.'.repeat(100_000),
    `agent${'.max_turns'.repeat(20)}`,
    'agent.max_turns;drop table',
    "agent.max_turns'--",
    '<script>',
    '{}',
    '[]',
  ];
  const keys = [...unsafe.flatMap((name) => shapes.map((shape) => shape(name))), ...odd];

  test('there are about a hundred', () => expect(keys.length).toBeGreaterThanOrEqual(95));

  test.each(keys.map((key) => [key.slice(0, 60), key]))('%j is refused and does no harm', (_, key) => {
    const before = Object.getOwnPropertyNames(Object.prototype);
    for (const value of [1, null, { polluted: true }, [], 'x'])
      expect(() => read({ [key]: value })).toThrow(InvalidSettings);
    expect(() => read(fromJson(`{${JSON.stringify(key)}: 0}`))).toThrow(InvalidSettings);
    expect(Object.getOwnPropertyNames(Object.prototype)).toEqual(before);
    expect(Reflect.get({}, 'polluted')).toBeUndefined();
  });

  test.each(unsafe)('%s is refused as a name within a value, at any depth', (name) => {
    for (const text of [
      `{"agent": {"${name}": {"polluted": true}}}`,
      `{"servers": {"${name}": {"url": "x"}}}`,
      `{"servers.one": {"headers": {"${name}": "x"}}}`,
      `{"servers.one.headers": {"a": {"${name}": "x"}}}`,
      `{"agent.tags": [{"${name}": 1}]}`,
    ])
      expect(() => read(fromJson(text))).toThrow(InvalidSettings);
  });
});
