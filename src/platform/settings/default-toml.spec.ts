import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { defaultToml } from './default-toml.js';
import { readEnvironment } from './environment.js';
import { GENERATED_FILES } from './generated-files.js';
import { jsonSchema } from './json-schema.js';
import { keyMarks } from './key-marks.js';
import { loadSettings } from './settings-loader.js';
import { settingsRoot } from './settings-tree.js';

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
