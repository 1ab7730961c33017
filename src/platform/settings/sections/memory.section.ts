import { z } from 'zod';
import { integer } from './key-types.js';

export const memorySection = z.strictObject({
  backend: z
    .enum(['postgres', 'none'])
    .default('postgres')
    .describe(
      'Where memories of users are stored: postgres is the database; none stores nothing and offers no memory tools.',
    ),
  top_k: integer(0, 100).default(5).describe('Memories recalled before a turn; 0 for none.'),
  max_entries_per_user: integer(1, 1_000_000)
    .default(10_000)
    .describe('Most memories of one user; past it, the least recently used are deleted.'),
});
