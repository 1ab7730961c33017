import { z } from 'zod';
import { integer } from './key-types.js';

export const memorySection = z.strictObject({
  backend: z.enum(['none']).default('none').describe('Where memories are kept.'),
  top_k: integer(0, 100).default(5).describe('Memories recalled before a turn.'),
});
