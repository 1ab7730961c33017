import { z } from 'zod';
import { keyMarks } from './key-marks.js';
import { jsonSchema, keyOf, leafNodes, type SettingsJsonSchema, settingsRoot } from './settings-tree.js';

const secretName =
  /(^|_)(keys?|tokens?|secrets?|pass(word|wd|phrase)?s?|dsn|credentials?|auth(orization)?|cookies?|headers?|env|signing|private|ur[il]s?)(_|$)/;

/** Keys that look like secrets but are not, with the reason. */
const exceptions: Readonly<Record<string, string>> = {
  'gateway.public_url': 'what everybody finds in an assertion',
  'provider.api_key_env': 'the name of a variable',
  'provider.base_url': 'a URL with credentials in it is refused',
  'providers.<name>.api_key_env': 'the name of a variable',
  'providers.<name>.base_url': 'a URL with credentials in it is refused',
  'security.allow_private_networks': 'addresses, which everybody may see',
  'channels_config.<name>.token_env': 'the name of a variable',
  'channels_config.<name>.app_token_env': 'the name of a variable',
  'channels_config.<name>.app_secret_env': 'the name of a variable',
  'channels_config.<name>.login_url': 'a URL with credentials in it is refused',
  'channels_config.<name>.openid_url': 'a URL with credentials in it is refused',
  'channels_config.<name>.api_url': 'a URL with credentials in it is refused',
  'channels_config.<name>.secret_env': 'the name of a variable',
  'auth.jwt.<name>.jwks_url': 'a URL with credentials in it is refused',
  'auth.jwt.<name>.jwks_token_file': 'the path of a file',
  'mcp.servers.<name>.token_env': 'the name of a variable',
  'mcp.servers.<name>.identity_header': 'the name of a header',
  'mcp.servers.<name>.oauth_client_secret_env': 'the name of a variable',
  'mcp.servers.<name>.oauth_private_key_file': 'the path of a file',
  'mcp.servers.<name>.oauth_workload_token_file': 'the path of a file',
  'mcp.servers.<name>.idp_client_secret_env': 'the name of a variable',
  'mcp.servers.<name>.idp_token_file': 'the path of a file',
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

/** Sections whose keys decide who may do what. Every key below them needs a mark, future ones too. */
const GUARDED = [
  'tools',
  'limits',
  'rate_limits',
  'security',
  'auth',
  'agents',
  'channels_config',
  'agent.tool_approval',
  'agent.tool_approval_timeout_ms',
];
/** Keys with such names need a mark anywhere. */
const GUARDED_NAMES =
  /(^|_)(secrets?|passwords?|api_key|private_key|token|callback_url|users|approvers?|approval|audit|allow|deny|scopes|roles|permissions|public|trusted|content)(_|$)/;

/** Keys in these sections or with these names that change no one's rights, with the reason. */
const HARMLESS: Readonly<Record<string, string>> = {
  'limits.turns_per_replica': 'the capacity of a process, for everyone',
  'multimodal.allow_remote_fetch': 'the guarded client decides which addresses are allowed',
  ...Object.fromEntries(
    ['description', 'system_prompt', 'models', 'reasoning', 'max_output_tokens', 'temperature', 'top_p']
      .concat(['show_reasoning', 'stop', 'tool_choice', 'skills', 'memory'])
      .map((key) => [`agents.<name>.${key}`, 'how an agent answers, not whom']),
  ),
  'channels_config.<name>.enabled': 'connects or disconnects a channel that an administrator configured',
  'channels_config.<name>.mention_only': 'which messages the bot answers, not whose',
  'channels_config.<name>.stream_interval_ms': 'pace',
  'channels_config.<name>.poll_timeout_secs': 'pace',
  'channels_config.<name>.request_timeout_ms': 'pace',
  'channels_config.<name>.response_timeout_ms': 'pace',
};

const isBelow = (key: string, place: string) => key === place || key.startsWith(`${place}.`);
const guarded = leafNodes().filter(
  (node) =>
    GUARDED.some((place) => isBelow(keyOf(node), place)) || GUARDED_NAMES.test(node.path.at(-1) ?? ''),
);

test('every key that decides who may do what is marked security or fileOnly', () => {
  const bare = guarded
    .filter(({ marks }) => marks.security !== true && marks.fileOnly !== true)
    .map(keyOf)
    .filter((key) => !Object.hasOwn(HARMLESS, key));
  expect(bare).toEqual([]);
});

test('every key listed as harmless exists and has no mark', () => {
  const open = guarded.filter(({ marks }) => marks.security !== true && marks.fileOnly !== true).map(keyOf);
  expect(Object.keys(HARMLESS).filter((key) => !open.includes(key))).toEqual([]);
});

test.each([
  'channels_config.<name>.secret',
  'channels_config.<name>.token',
  'channels_config.<name>.callback_url',
  'channels_config.<name>.allowed_users',
  'tools.channels.<name>.deny',
  'tools.tokens.<name>.allow',
  'tools.approval.never',
  'mcp.servers.<name>.deny_tools',
  'agent.tool_approval',
  'security.audit_retention_days',
  'limits.daily_tokens_per_api_token',
  'limits.api_tokens.<name>.turns',
  'rate_limits.sessions_write',
  'provider.api_key',
  'hooks.include_content',
])('%s is marked', (key) => {
  expect(leafNodes().find((node) => keyOf(node) === key)?.marks.security).toBe(true);
});
