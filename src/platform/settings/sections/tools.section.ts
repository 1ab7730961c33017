import { z } from 'zod';
import { keyMarks } from '../key-marks.js';

const patterns = () => z.array(z.string().min(1).max(128)).max(256);

const toolRule = z.strictObject({
  allow: patterns()
    .default(['*'])
    .describe('Tools that may run, by the names models see; * stands for any characters.'),
  deny: patterns().default([]).describe('Tools that may not run, even if allow names them.'),
});

/** The gateway's own tools that run without approval: they read skills, and keep what the session's user said. */
const HARMLESS = ['memory_recall', 'memory_store', 'skill_read'];

/** Who may run which tool, and which calls wait for a person: this decides what the agent may do. */
export const toolsSection = z
  .strictObject({
    approval: z
      .strictObject({
        ask: patterns()
          .default([])
          .describe(
            'Tools whose every call waits for a person, even if never names them; * stands for any characters.',
          ),
        never: patterns()
          .default(HARMLESS)
          .describe(
            'Harmless tools: with agent.tool_approval = "ask" all others wait for a person, whatever a tool says of itself.',
          ),
      })
      .prefault({}),
    channels: z
      .record(z.string().min(1).max(128), toolRule)
      .default({})
      .describe('Which tools may run for a channel; a channel without an entry may use all.'),
    tokens: z
      .record(z.string().min(1).max(128), toolRule)
      .default({})
      .describe(
        'Which tools may run in turns of a token, by its name or id; a token without an entry may use all.',
      ),
  })
  .register(keyMarks, { security: true });
