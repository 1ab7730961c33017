import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { parse } from 'smol-toml';
import { z } from 'zod';
import { readEnvironment } from './environment.js';
import { defaultToml, GENERATED_FILES, settingsTable } from './generated-files.js';
import { keyMarks } from './key-marks.js';
import { loadSettings } from './settings-loader.js';
import { jsonSchema, leafNodes, settingsRoot } from './settings-tree.js';

const file = join(__dirname, '../../../config/gateway.default.toml');

describe('config/gateway.default.toml', () => {
  test.each(GENERATED_FILES)(
    '$path is what the schema generates (npm run generate:config)',
    ({ path, make }) => {
      const held = readFileSync(join(__dirname, '../../..', path), 'utf8');
      expect(held).toBe(make(held));
    },
  );

  test('loads, and sets every key to its default', () => {
    const environment = readEnvironment({});
    const { settings, sources } = loadSettings({ environment, file });
    expect(settings).toEqual(loadSettings({ environment }).settings);
    expect([...sources].filter(([, { layer }]) => layer !== 'file').map(([key]) => key)).toEqual([
      'database.data_dir',
    ]);
  });

  test('shows a collection as a commented example', () => {
    const server = z.strictObject({
      url: z.string().describe('Where it is.'),
      headers: z
        .record(z.string(), z.string())
        .default({})
        .register(keyMarks, { secret: true })
        .describe('What it is sent.'),
    });
    const schema = z.strictObject({
      mcp: z.strictObject({ servers: z.record(z.string(), server).prefault({}) }).prefault({}),
    });
    expect(
      defaultToml(settingsRoot(jsonSchema(schema)))
        .split('\n\n')
        .slice(1)
        .join('\n\n'),
    ).toBe(`# [mcp.servers.<name>]

# Where it is.
# (text)
# url =

# What it is sent.
# (table, each value text; secret)
# headers = {}
`);
  });
});

describe('the descriptions of the settings', () => {
  test('every key has a sentence that ends in a full stop', () => {
    const bare = leafNodes().filter(({ schema }) => !/^\S.*\.$/.test(schema.description ?? ''));
    expect(bare.map(({ path }) => path.join('.'))).toEqual([]);
  });

  test('every key is a row of the table', () => {
    const rows = settingsTable().trimEnd().split('\n').slice(2);
    expect(rows).toHaveLength(leafNodes().length);
    expect(rows).toContain(
      '| `agent.on_busy` | What happens to a message for a session with a running turn: queue lets it wait in order, reject refuses it. | one of "queue", "reject" | `"queue"` |  |',
    );
    expect(rows.find((row) => row.includes('`database.url`'))).toContain(
      'secret; only in the file or the environment; takes effect at the next start',
    );
  });

  test('another validator of the JSON Schema accepts the default file and refuses what is wrong', () => {
    const validate = new Ajv2020({ strict: true, keywords: ['x-marks'] }).compile(jsonSchema());
    const defaults = readFileSync(join(__dirname, '../../../config/gateway.default.toml'), 'utf8');
    expect(validate(parse(defaults))).toBe(true);
    expect(validate({ gateway: { port: 65_536 } })).toBe(false);
    expect(validate({ gateway: { prot: 1 } })).toBe(false);
    expect(jsonSchema()).toMatchObject({
      properties: { provider: { properties: { api_key: { writeOnly: true } } } },
    });
  });
});
