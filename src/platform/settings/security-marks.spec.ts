import { keyOf, leafNodes } from './settings-tree.js';

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
