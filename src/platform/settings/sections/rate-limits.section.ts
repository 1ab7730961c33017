import { z } from 'zod';
import { keyMarks } from '../key-marks.js';
import { perSecond } from './key-types.js';

/** Limits of every token; marked security, so that no token lifts its own. */
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
