import { z } from 'zod';
import { integer } from './key-types.js';

const MOST_TURNS = 100_000;
const MOST_TOKENS = 1_000_000_000_000;

const turnsAtOnce = () => integer(0, MOST_TURNS);
const dailyTokens = () => integer(0, MOST_TOKENS);

const apiTokenLimits = z.strictObject({
  turns: turnsAtOnce()
    .optional()
    .describe(
      'Turns of this API token that run at once; 0 is no limit, and without it the one for all holds.',
    ),
  daily_tokens: dailyTokens()
    .optional()
    .describe(
      'Model tokens, in and out, that its turns may use per day; 0 is no limit, and without it the one for all holds.',
    ),
});

export const limitsSection = z.strictObject({
  turns_per_replica: turnsAtOnce()
    .default(0)
    .describe(
      'Turns that run at once in one gateway process; as many messages again wait for a place, up to agent.max_wait_ms. 0 is no limit.',
    ),
  turns_per_api_token: turnsAtOnce()
    .default(0)
    .describe('Turns of one API token that run at once, over all replicas. 0 is no limit.'),
  daily_tokens_per_api_token: dailyTokens()
    .default(0)
    .describe(
      'Model tokens, in and out, that the turns of one API token may use per day (UTC), over all replicas; a turn that has begun is finished. 0 is no limit.',
    ),
  daily_tokens_per_session: dailyTokens()
    .default(0)
    .describe(
      'Model tokens, in and out, that the turns of one session may use per day (UTC). 0 is no limit.',
    ),
  api_tokens: z
    .record(z.string().min(1).max(128), apiTokenLimits)
    .default({})
    .describe('Limits of their own for some API tokens, by the name or the id of the token; the id wins.'),
});
