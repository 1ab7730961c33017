import { z } from 'zod';
import { signingKey } from '../../../common/text/webhook-secret.js';
import { keyMarks } from '../key-marks.js';
import { httpUrl, integer, millis, plainName, variableName } from './key-types.js';

const MAX_SECRET_LENGTH = 512;
const MAX_USERS = 10_000;
/** Shortest key that a webhook channel signs with, in bytes. */
export const MIN_CHANNEL_KEY_BYTES = 16;

/** Anyone who has a channel's secret can write as any user. */
const secretText = () =>
  z.string().max(MAX_SECRET_LENGTH).default('').register(keyMarks, { secret: true, security: true });

/** Trimmed, because a secret from a variable is read without the white space around it. */
function hasLongKey(secret: string): boolean {
  return (signingKey(secret.trim())?.length ?? 0) >= MIN_CHANNEL_KEY_BYTES;
}

function needsToken(type: string): boolean {
  return type === 'slack' || type === 'telegram';
}

/** One channel. Keys of other types are ignored, so that the type can be changed key by key. */
const channel = z
  .strictObject({
    type: z
      .enum(['slack', 'teams', 'telegram', 'webhook'])
      .register(keyMarks, { security: true })
      .describe('The platform it connects to.'),
    enabled: z.boolean().default(true).describe('Whether it is connected.'),
    agent: z
      .string()
      .min(1)
      .max(64)
      .default('default')
      .register(keyMarks, { security: true })
      .describe('The agent that answers there; a conversation that has begun keeps its own.'),
    allowed_users: z
      .array(z.string().min(1).max(256))
      .max(MAX_USERS)
      .default([])
      .register(keyMarks, { security: true })
      .describe(
        "Who may write: user ids of the platform, or names such as @ada where it has them. Empty allows no one, '*' everyone.",
      ),
    approvers: z
      .array(z.string().min(1).max(256).regex(/[^*]/, 'has to be the id of a person'))
      .max(MAX_USERS)
      .default([])
      .register(keyMarks, { security: true })
      .describe(
        'slack, teams, telegram: who may decide with buttons about the tool calls of its conversations, as user ids of the platform, not names. Empty shows no buttons.',
      ),
    mention_only: z
      .boolean()
      .default(false)
      .describe('In groups, answer only messages that mention the bot or reply to it.'),
    stream_interval_ms: integer(0, 60_000)
      .default(2000)
      .describe(
        'Time between two edits of an answer that is being written, in milliseconds; 0 sends it once it is complete.',
      ),
    token: secretText().describe('slack, telegram: the bot token; for Slack the one that begins with xoxb-.'),
    token_env: variableName().describe('slack, telegram: name of the variable that holds the token instead.'),
    app_token: secretText().describe('slack: the app token for socket mode, which begins with xapp-.'),
    app_token_env: variableName().describe('slack: name of the variable that holds the app token instead.'),
    app_id: z
      .string()
      .max(64)
      .default('')
      .register(keyMarks, { security: true })
      .describe('teams: the id of the app (the bot).'),
    tenant_id: z
      .string()
      .max(64)
      .regex(/^[A-Za-z0-9.-]*$/, 'must be the id of a tenant')
      .default('')
      .register(keyMarks, { security: true })
      .describe(
        'teams: the only tenant that may write, which also issues the token of the app; empty for an app of several tenants.',
      ),
    app_secret: secretText().describe('teams: the client secret of the app.'),
    app_secret_env: variableName().describe(
      'teams: name of the variable that holds the client secret instead.',
    ),
    assertion_file: z
      .string()
      .max(1024)
      .default('')
      .register(keyMarks, { fileOnly: true })
      .describe(
        'teams: file with a token that stands for the app (workload identity federation), instead of a client secret; read for each new token.',
      ),
    login_url: httpUrl()
      .default('https://login.microsoftonline.com')
      .register(keyMarks, { fileOnly: true })
      .describe('teams: where the app gets its token.'),
    openid_url: httpUrl()
      .default('https://login.botframework.com/v1/.well-known/openidconfiguration')
      .register(keyMarks, { fileOnly: true })
      .describe('teams: the OpenID metadata that names the keys of the connector.'),
    issuer: z
      .string()
      .min(1)
      .max(512)
      .default('https://api.botframework.com')
      .register(keyMarks, { fileOnly: true })
      .describe('teams: the issuer that tokens of the connector have to name.'),
    api_url: httpUrl()
      .default('')
      .register(keyMarks, { fileOnly: true })
      .describe(
        'slack, telegram: base URL of the API; empty uses https://slack.com/api/ or https://api.telegram.org.',
      ),
    poll_timeout_secs: integer(1, 300)
      .default(30)
      .describe('telegram: how long one poll for new messages may stay open, in seconds.'),
    request_timeout_ms: millis(10_000, 120_000).describe(
      'Longest single call to the platform, in milliseconds.',
    ),
    secret: secretText().describe(
      'webhook: the key of the signatures; whsec_ and base64, or any text of at least 16 bytes.',
    ),
    secret_env: variableName().describe('webhook: name of the variable that holds the key instead.'),
    callback_url: httpUrl()
      .default('')
      .register(keyMarks, { secret: true, security: true })
      .describe('webhook: URL that answers are posted to, signed; empty answers in the response.'),
    response_timeout_ms: millis(30_000, 600_000).describe(
      'webhook: how long a request waits for the answer before it gets 202, in milliseconds.',
    ),
  })
  .refine(({ type, token, token_env }) => !needsToken(type) || token !== '' || token_env !== '', {
    path: ['token'],
    message: 'a channel of the types "slack" and "telegram" needs a token or a token_env',
  })
  .refine(
    ({ type, app_token, app_token_env }) => type !== 'slack' || app_token !== '' || app_token_env !== '',
    {
      path: ['app_token'],
      message: 'a channel of the type "slack" needs an app_token or an app_token_env',
    },
  )
  .refine(({ type, secret, secret_env }) => type !== 'webhook' || secret !== '' || secret_env !== '', {
    path: ['secret'],
    message: 'a channel of the type "webhook" needs a secret or a secret_env',
  })
  .refine(({ type, secret }) => type !== 'webhook' || secret === '' || hasLongKey(secret), {
    path: ['secret'],
    message: `has to be whsec_ and base64, or any text, of at least ${MIN_CHANNEL_KEY_BYTES} bytes`,
  })
  .refine(({ type, app_id }) => type !== 'teams' || app_id !== '', {
    path: ['app_id'],
    message: 'a channel of the type "teams" needs the id of its app',
  })
  .refine(
    ({ type, app_secret, app_secret_env, assertion_file }) =>
      type !== 'teams' ||
      [app_secret, app_secret_env, assertion_file].filter((one) => one !== '').length === 1,
    {
      path: ['app_secret'],
      message: 'a channel of the type "teams" needs one of app_secret, app_secret_env and assertion_file',
    },
  )
  .refine(({ token, token_env }) => token === '' || token_env === '', {
    path: ['token_env'],
    message: 'is set beside token; leave one of the two out',
  })
  .refine(({ app_token, app_token_env }) => app_token === '' || app_token_env === '', {
    path: ['app_token_env'],
    message: 'is set beside app_token; leave one of the two out',
  })
  .refine(({ secret, secret_env }) => secret === '' || secret_env === '', {
    path: ['secret_env'],
    message: 'is set beside secret; leave one of the two out',
  });

export const channelsSection = z
  .record(
    plainName(32).refine((name) => name !== 'api', 'api is built in and needs no settings'),
    channel,
  )
  .default({})
  .describe('The channels besides the built-in api, by name.');

export type ChannelSettings = z.output<typeof channel>;
