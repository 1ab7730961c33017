import fc from 'fast-check';
import { isTable, readAt } from '../../src/platform/settings/dotted-path.js';
import {
  keyOf,
  leafNodes,
  type SettingsJsonSchema,
  type SettingsNode,
} from '../../src/platform/settings/settings-tree.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';

type Tree = Record<string, unknown>;
interface Row {
  readonly key: string;
}

jest.setTimeout(120_000);

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.stop());

const shown = async () => (await gateway.b.get<Tree>('/config')).body;
const patch = (body: Tree) => gateway.b.patch<{ updated: string[] }>('/config', body);
const stored = () => gateway.database.query<Row>('SELECT * FROM config_overrides ORDER BY key');

function at(tree: Tree, key: string): unknown {
  return readAt(tree, key.split('.'));
}

/** Every key and value of the tree as GET shows it; a list counts as one value. */
function flat(tree: Tree, prefix = ''): readonly (readonly [string, unknown])[] {
  return Object.entries(tree).flatMap(([name, part]) =>
    isTable(part) ? flat(part, `${prefix}${name}.`) : [[`${prefix}${name}`, part] as const],
  );
}

const leaves = leafNodes().filter((node) => !node.path.includes('<name>'));
const changeable = leaves.filter(({ marks }) => !marks.secret && !marks.fileOnly);

/** A low limit would refuse the test's own requests. */
const harmless = changeable.filter(({ path }) => path[0] !== 'rate_limits');

/** For lists and texts, a schema alone does not say what the key accepts. */
const samples: Readonly<Record<string, unknown>> = {
  'provider.kind': 'offline',
  'gateway.profiles': ['b'],
};

/** Another valid value for this key; undefined when none can be derived. */
function another({ schema }: SettingsNode, value: unknown): unknown {
  if (schema.enum !== undefined) return schema.enum.find((word) => word !== value);
  if (schema.type === 'boolean') return value !== true;
  if (schema.type === 'integer') return otherInteger(schema, value as number);
  if (schema.type === 'string') return `${String(value)}x`;
  return schema.type === 'array' && Array.isArray(value) ? value.toReversed() : undefined;
}

function otherInteger({ minimum = 0, maximum = 100 }: SettingsJsonSchema, value: number): number {
  return value + 1 <= maximum ? value + 1 : minimum;
}

test('GET, PATCH of any key that may be changed and is no secret, GET: the value comes back, and null undoes it', async () => {
  const start = await shown();
  let changed = 0;
  for (const node of changeable) {
    const key = keyOf(node);
    const value = at(start, key);
    const same = await patch({ [key]: value });
    expect([key, same.status, at(await shown(), key)]).toEqual([key, 200, value]);
    const other = samples[key] ?? another(node, value);
    if (other === undefined) continue;
    const answer = await patch({ [key]: other });
    if (answer.status === 400 && node.schema.type === 'string') continue;
    expect([key, answer.status, at(await shown(), key)]).toEqual([key, 200, other]);
    await patch({ [key]: null });
    changed += 1;
  }
  expect(changed).toBeGreaterThan(25);
  await patch(Object.fromEntries(changeable.map((node) => [keyOf(node), null])));
  expect(await shown()).toEqual(start);
  expect(await stored()).toEqual([]);
});

const anyKey = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...harmless.map(keyOf)) },
  { weight: 1, arbitrary: fc.constantFrom('database.url', 'provider.api_key', 'security.allow_loopback') },
  {
    weight: 1,
    arbitrary: fc.constantFrom('agent.max_turn', 'x', '__proto__.x', 'agent', 'gateway.profiles.0'),
  },
);
const anyValue = fc.oneof(
  fc.integer({ min: -1, max: 70_000 }),
  fc.constantFrom(null, true, false, 'queue', 'reject', 'info', 'offline', '', 'a b', '***REDACTED***'),
  fc.constantFrom([], ['a'], ['b', 'a'], ['10.0.0.0/8'], { max_turns: 3 }, 1.5, 1e9),
);
const junk = fc.tuple(anyKey, anyValue);
const likely = fc
  .constantFrom(...harmless)
  .chain((node) => fc.tuple(fc.constant(keyOf(node)), fitting(node)));
const anyPatch = fc
  .array(fc.oneof({ weight: 5, arbitrary: likely }, { weight: 1, arbitrary: junk }), { maxLength: 4 })
  .map((wishes) => Object.fromEntries<unknown>(wishes));

/** A valid value for this key, or null. */
function fitting({ schema, path }: SettingsNode): fc.Arbitrary<unknown> {
  const sample = samples[path.join('.')];
  if (sample !== undefined) return fc.constantFrom(sample, null);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  const { minimum: min = 0, maximum: max = 100 } = schema;
  if (schema.type === 'integer') return fc.integer({ min, max: Math.min(max, min + 90) });
  return schema.type === 'boolean' ? fc.boolean() : fc.constant(null);
}

test('any PATCH is applied as a whole, or changes nothing that is shown and nothing that is stored', async () => {
  const outcomes = { applied: 0, refused: 0 };
  await fc.assert(
    fc.asyncProperty(anyPatch, async (body) => {
      const [before, rows] = [await shown(), await stored()];
      const answer = await patch(body);
      const after = await shown();
      if (answer.status !== 200) {
        outcomes.refused += 1;
        expect([400, 403]).toContain(answer.status);
        expect([after, await stored()]).toEqual([before, rows]);
        return;
      }
      if (answer.body.updated.length > 0) outcomes.applied += 1;
      const wished = flat(body);
      for (const [key, value] of wished) {
        const is = at(after, key);
        // Secrets are never shown.
        if (key === 'provider.api_key') expect(['', null, undefined, '***REDACTED***']).toContain(is);
        else if (value !== null) expect([key, is]).toEqual([key, value]);
      }
      const touched = (key: string) =>
        answer.body.updated.some((one) => key === one || key.startsWith(`${one}.`));
      const rest = (tree: Tree) => flat(tree).filter(([key]) => !touched(key));
      expect(rest(after)).toEqual(rest(before));
    }),
    { numRuns: 100 },
  );
  expect(outcomes.applied).toBeGreaterThan(10);
  expect(outcomes.refused).toBeGreaterThan(10);
});
