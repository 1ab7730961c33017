import { z } from 'zod';
import { jsonSchema, type SettingsJsonSchema } from './json-schema.js';
import { keyMarks } from './key-marks.js';
import { keyOf, leafNodes, settingsRoot } from './settings-tree.js';

const secretName =
  /(^|_)(keys?|tokens?|secrets?|pass(word|wd|phrase)?s?|dsn|credentials?|auth(orization)?|cookies?|headers?|env|signing|private|ur[il]s?)(_|$)/;

/** Keys that look like secrets but are not, with the reason. */
const exceptions: Readonly<Record<string, string>> = {
  'provider.base_url': 'a URL with credentials in it is refused',
  'security.allow_private_networks': 'addresses, which everybody may see',
  'channels_config.<name>.token_env': 'the name of a variable',
  'channels_config.<name>.app_token_env': 'the name of a variable',
  'channels_config.<name>.api_url': 'a URL with credentials in it is refused',
  'channels_config.<name>.secret_env': 'the name of a variable',
  'mcp.servers.<name>.token_env': 'the name of a variable',
  'mcp.servers.<name>.oauth_client_secret_env': 'the name of a variable',
};

function unmarked(schema: SettingsJsonSchema): readonly string[] {
  return leafNodes(settingsRoot(schema))
    .filter((leaf) => holdsText(leaf.schema) && secretName.test(leaf.path.at(-1) ?? '') && !leaf.marks.secret)
    .map(keyOf);
}

/** Numbers, booleans and enums hold no secret. */
function holdsText({ type, enum: words, items, additionalProperties }: SettingsJsonSchema): boolean {
  if (items !== undefined) return holdsText(items);
  if (typeof additionalProperties === 'object') return holdsText(additionalProperties);
  return type === 'string' && words === undefined;
}

describe('the marks of secrets', () => {
  test('every key that looks like a secret is marked as one or has a reason not to be', () => {
    expect(unmarked(jsonSchema())).toEqual(Object.keys(exceptions));
  });

  test('a key that looks like a secret is noticed at any depth and with any text type', () => {
    const text = z.string().default('');
    const inner = z.strictObject({
      bot_token: text,
      headers: z.record(z.string(), text).default({}),
      max_tokens: z.int(),
      name: text,
    });
    const schema = z.strictObject({
      s: z.strictObject({
        signing_keys: z.array(text),
        key: text.clone().register(keyMarks, { secret: true }),
        key_kind: z.enum(['a']),
      }),
      things: z.record(z.string(), inner),
      marked: inner.clone().register(keyMarks, { secret: true }),
    });
    expect(unmarked(jsonSchema(schema))).toEqual([
      's.signing_keys',
      'things.<name>.bot_token',
      'things.<name>.headers',
    ]);
  });
});
