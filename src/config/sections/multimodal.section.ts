import { z } from 'zod';

export const multimodalSection = z.strictObject({
  allow_remote_fetch: z
    .boolean()
    .default(false)
    .describe('Fetch attachments that are given as a URL, through the outbound guard.'),
});
