import { z } from 'zod';
import { millis } from './key-types.js';

export const multimodalSection = z.strictObject({
  allow_remote_fetch: z
    .boolean()
    .default(false)
    .describe('Fetch attachments that are given as a URL, through the outbound guard.'),
  fetch_timeout_ms: millis(15_000, 300_000).describe(
    'Longest time to fetch all such attachments of one message, in milliseconds.',
  ),
});
