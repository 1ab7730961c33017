import { z } from 'zod';
import { millis } from './key-types.js';

export const multimodalSection = z.strictObject({
  allow_remote_fetch: z
    .boolean()
    .default(false)
    .describe('Whether attachments given as a URL are fetched, through the outbound guard.'),
  fetch_timeout_ms: millis(15_000, 300_000).describe(
    'Longest time to fetch all remote attachments of one message, in milliseconds.',
  ),
});
