import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { parse } from 'smol-toml';
import { jsonSchema } from './json-schema.js';
import { settingsTable } from './settings-table.js';
import { leafNodes } from './settings-tree.js';

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
