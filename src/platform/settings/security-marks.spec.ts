import { keyOf, leafNodes } from './settings-tree.js';

/** Places whose keys decide who may do what, as a whole. What is below them needs a mark, also what is added one day. */
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
/** And wherever they stand, keys of these names. */
const GUARDED_NAMES =
  /(^|_)(secrets?|passwords?|api_key|private_key|token|callback_url|users|approvers?|approval|audit|allow|deny|scopes|roles|permissions|public|trusted|content)(_|$)/;

/** Keys at such places or of such names that change nobody's rights, with the reason. */
const HARMLESS: Readonly<Record<string, string>> = {
  'limits.turns_per_replica': 'the capacity of a process, for everybody',
  'multimodal.allow_remote_fetch': "where to is the guarded client's to allow",
  'channels_config.<name>.enabled': 'connects a channel that an administrator described, or does not',
  'channels_config.<name>.mention_only': 'how much the bot listens, not to whom',
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

test('every key that decides who may do what is marked security, or is for the file alone', () => {
  const bare = guarded
    .filter(({ marks }) => marks.security !== true && marks.fileOnly !== true)
    .map(keyOf)
    .filter((key) => !Object.hasOwn(HARMLESS, key));
  expect(bare).toEqual([]);
});

test('a key that is said to be harmless is there and has no mark', () => {
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
