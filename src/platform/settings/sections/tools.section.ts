import { z } from 'zod';
import { keyMarks } from '../key-marks.js';

const patterns = () => z.array(z.string().min(1).max(128)).max(256);

const toolRule = z.strictObject({
  allow: patterns()
    .default(['*'])
    .describe('Tools that may run, by the names models see; * stands for any characters.'),
  deny: patterns().default([]).describe('Tools that may not, also when they are allowed above.'),
});

/** What the gateway's own tools do without asking: they read skills, and what the user of the session told. */
const HARMLESS = ['memory_recall', 'memory_store', 'skill_read'];

/** Who may run which tool, and which calls wait for a person. Whoever sets these decides what the agent may do. */
export const toolsSection = z
  .strictObject({
    approval: z
      .strictObject({
        ask: patterns()
          .default([])
          .describe(
            'Tools whose every call waits for a person, also when they are named below; * stands for any characters.',
          ),
        never: patterns()
          .default(HARMLESS)
          .describe(
            'Tools that are harmless: with agent.tool_approval = "ask" all others wait for a person. What a tool says of itself does not count.',
          ),
      })
      .prefault({}),
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
  })
  .register(keyMarks, { security: true });
