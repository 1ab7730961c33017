import { z } from 'zod';
import { keyMarks } from '../key-marks.js';
import { integer, perSecond } from './key-types.js';
import { budget, budgetKeys } from './money.section.js';

const MAX_TURNS = 100_000;
const MAX_TOKENS = 1_000_000_000_000;
const MAX_HOOKS = 1000;
const MAX_TASK_HOOKS = 5000;
const MAX_STREAMS = 100_000;
const MAX_WAITING = 1_000_000;
const MAX_BYTES = 1_000_000_000_000_000;

const turnsAtOnce = () => integer(0, MAX_TURNS);
const dailyTokens = () => integer(0, MAX_TOKENS);
const ownShare = (most: number, what: string) =>
  integer(0, most).optional().describe(`${what}; 0 is no limit, unset is the limit of all tokens.`);
const share = (most: number, usual: number) =>
  integer(0, most).default(usual).register(keyMarks, { security: true });

const apiTokenLimits = z.strictObject({
  turns: turnsAtOnce()
    .optional()
    .describe('Turns of this API token that run at once; 0 is no limit, unset is the limit of all tokens.'),
  daily_tokens: dailyTokens()
    .optional()
    .describe(
      'Model tokens, in and out, that its turns may use per day; 0 is no limit, unset is the limit of all tokens.',
    ),
  hooks: ownShare(MAX_HOOKS, 'Its webhooks'),
  task_hooks: ownShare(MAX_TASK_HOOKS, 'Its push notifications of tasks'),
  streams: ownShare(MAX_STREAMS, 'Its open streams of each kind in one gateway process'),
  waiting_messages: ownShare(MAX_WAITING, 'Its messages that wait for a busy session or a free slot'),
  stored_bytes: ownShare(MAX_BYTES, 'Bytes of attachments stored for it'),
  ...budgetKeys('this API token'),
});

const budgetOfEach = (whose: string) => budget(whose).register(keyMarks, { security: true });

export const limitsSection = z.strictObject({
  turns_per_replica: turnsAtOnce()
    .default(0)
    .describe(
      'Turns that run at once in one gateway process; as many messages again wait for a slot, up to agent.max_wait_ms. 0 is no limit.',
    ),
  turns_per_api_token: turnsAtOnce()
    .default(0)
    .register(keyMarks, { security: true })
    .describe('Turns of one API token that run at once, over all replicas. 0 is no limit.'),
  daily_tokens_per_api_token: dailyTokens()
    .default(0)
    .register(keyMarks, { security: true })
    .describe(
      'Model tokens, in and out, that the turns of one API token may use per day (UTC), over all replicas; a turn that has started is finished. 0 is no limit.',
    ),
  daily_tokens_per_session: dailyTokens()
    .default(0)
    .register(keyMarks, { security: true })
    .describe(
      'Model tokens, in and out, that the turns of one session may use per day (UTC). 0 is no limit.',
    ),
  hooks_per_api_token: share(MAX_HOOKS, 100).describe(
    `Webhooks of one API token and those that replaced it; all tokens together may have ${MAX_HOOKS}. 0 is no limit.`,
  ),
  task_hooks_per_api_token: share(MAX_TASK_HOOKS, 500).describe(
    `Push notifications (A2A) that one API token and those that replaced it have registered for tasks that are not over; all tokens together may have ${MAX_TASK_HOOKS}. 0 is no limit.`,
  ),
  streams_per_api_token: share(MAX_STREAMS, 500).describe(
    'Viewers of sessions (event streams and WebSockets), and likewise log streams, that one API token has open in one gateway process; at most half of streaming.max_viewers and of logging.max_streams. 0 is no limit.',
  ),
  waiting_messages_per_api_token: share(MAX_WAITING, 1000).describe(
    'Messages of one API token that wait for busy sessions or for free slots, over all replicas. 0 is no limit.',
  ),
  stored_bytes_per_api_token: share(MAX_BYTES, 10_737_418_240).describe(
    'Bytes of attachments that are stored for one API token and those that replaced it, over all replicas. 0 is no limit.',
  ),
  api_tokens: z
    .record(z.string().min(1).max(256), apiTokenLimits)
    .default({})
    .register(keyMarks, { security: true })
    .describe(
      'Limits of single API tokens, by the name or the id of the token, and of callers with a JWT by "issuer|subject"; the id wins.',
    ),
  all: budgetOfEach('everything together').prefault({}),
  each_user: budgetOfEach('each user without a budget of their own').prefault({}),
  each_api_token: budgetOfEach('each API token without a budget of its own').prefault({}),
  each_agent: budgetOfEach('each agent without a budget of its own').prefault({}),
  users: z
    .record(z.string().min(1).max(1024), budget('this user'))
    .default({})
    .register(keyMarks, { security: true })
    .describe('Budgets of single users, by their id.'),
  agents: z
    .record(z.string().min(1).max(64), budget('this agent'))
    .default({})
    .register(keyMarks, { security: true })
    .describe('Budgets of single agents, by their name.'),
});

/** Limits of every token. They are marked security, so that no token can lift its own. */
export const rateLimitsSection = z
  .strictObject({
    store: z
      .enum(['auto', 'memory', 'postgres'])
      .default('auto')
      .register(keyMarks, { restart: true })
      .describe(
        'Where the token buckets live: memory limits each process by itself, postgres all of them together; auto is postgres with a database of your own.',
      ),
    sessions_write: perSecond(10).describe('Writes to sessions and messages per second and token.'),
    sessions_read: perSecond(50).describe('Reads of sessions and messages per second and token.'),
    config_write: perSecond(5).describe('Writes to the configuration per second and token.'),
    other: perSecond(30).describe('All other requests per second and token.'),
  })
  .register(keyMarks, { security: true });
