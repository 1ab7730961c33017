import { z } from 'zod';
import { keyMarks } from '../key-marks.js';
import { integer, millis } from './key-types.js';

export const hooksSection = z.strictObject({
  include_content: z
    .boolean()
    .default(false)
    .register(keyMarks, { security: true })
    .describe('Put the text of messages into message.received and message.sent.'),
  timeout_ms: millis(15_000, 120_000).describe('Longest single delivery attempt, in milliseconds.'),
  in_flight_per_hook: integer(1, 256)
    .default(1)
    .describe(
      'First attempts to one hook at once; with 1 events arrive in order, with more they are only sent in order.',
    ),
  max_in_flight: integer(2, 16_384)
    .default(2048)
    .describe('Delivery attempts at once in one process; failing hooks take at most half of them.'),
  retention_hours: integer(1, 8760)
    .default(168)
    .describe('How long finished deliveries can be listed and replayed, in hours.'),
});
