import { z } from 'zod';
import { perSecond } from './key-types.js';

export const rateLimitsSection = z.strictObject({
  sessions_write: perSecond(10).describe('Writes to sessions and messages per second and token.'),
  sessions_read: perSecond(50).describe('Reads of sessions and messages per second and token.'),
  config_write: perSecond(5).describe('Writes to the configuration per second and token.'),
  other: perSecond(30).describe('All other requests per second and token.'),
});
