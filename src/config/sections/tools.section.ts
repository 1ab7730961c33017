import { z } from 'zod';

const patterns = () => z.array(z.string().min(1).max(128)).max(256);

const toolRule = z.strictObject({
  allow: patterns()
    .default(['*'])
    .describe('Tools that may run, by the names models see; * stands for any characters.'),
  deny: patterns().default([]).describe('Tools that may not, also when they are allowed above.'),
});

export const toolsSection = z.strictObject({
  channels: z
    .record(z.string().min(1).max(128), toolRule)
    .default({})
    .describe('Which tools may run for which channel; a channel without an entry may use all.'),
  tokens: z
    .record(z.string().min(1).max(128), toolRule)
    .default({})
    .describe(
      'Which tools may run in turns of which token, by its name or id; a token without an entry may use all.',
    ),
});
