import { z } from 'zod';
import { integer, millis } from './key-types.js';

export const streamingSection = z.strictObject({
  max_viewers: integer(1, 100_000)
    .default(1000)
    .describe('Most event streams and WebSockets of sessions that are open in one gateway process.'),
  stall_ms: integer(500, 600_000)
    .default(30_000)
    .describe('How long a viewer that reads nothing of what it is sent stays connected, in milliseconds.'),
  ping_interval_ms: millis(15_000).describe(
    'How often a quiet viewer is pinged, in milliseconds; a WebSocket that does not answer is closed.',
  ),
});
