import { z } from 'zod';
import { keyMarks } from '../key-marks.js';
import { agentChoices, providerKeys } from './agent.section.js';
import { fileOnlyText, plainName, toolRule } from './key-types.js';

/** `default` is left out: `[provider]` describes it. */
const otherName = (is: string) =>
  plainName(64).refine((name) => name !== 'default', `default is what [${is}] describes`);

export const providersSection = z
  .record(
    otherName('provider'),
    z.strictObject({
      kind: z.enum(['anthropic', 'openai', 'offline']).describe('Which protocol it speaks.'),
      ...providerKeys(),
    }),
  )
  .default({})
  .describe('Further providers, by name; models are named provider/model.');

export const agentsSection = z
  .record(
    otherName('agent'),
    z
      .strictObject({
        description: agentChoices
          .description()
          .default('')
          .describe('What it is for, for people and clients.'),
        system_prompt: z
          .string()
          .max(65_536)
          .optional()
          .describe('System prompt of a session that sets none of its own; without it, that of [agent].'),
        system_prompt_file: fileOnlyText().describe(
          'A file of at most 64 KiB that holds the system prompt instead; it is read whenever the configuration changes.',
        ),
        models: agentChoices
          .models()
          .optional()
          .describe(
            'Models that answer, the first one first and each next one when the one before it fails; without them, those of [agent].',
          ),
        reasoning: agentChoices
          .reasoning()
          .optional()
          .describe('How much the model thinks before it answers; without it, as in [agent].'),
        show_reasoning: agentChoices
          .showReasoning()
          .optional()
          .describe('Whether callers see the thoughts of the model; without it, as in [agent].'),
        max_output_tokens: agentChoices
          .maxOutputTokens()
          .optional()
          .describe('Most tokens in one model answer; without it, as in [agent].'),
        temperature: agentChoices
          .temperature()
          .describe('How freely the next token is chosen; without it, as in [agent].'),
        top_p: agentChoices
          .topP()
          .describe('From which share of likely tokens the next one is chosen; without it, as in [agent].'),
        stop: agentChoices
          .stop()
          .optional()
          .describe('Texts, each of which ends an answer; without them, as in [agent].'),
        tool_choice: agentChoices
          .toolChoice()
          .optional()
          .describe(
            'auto, none, required, or the tool that has to be called first; without it, as in [agent].',
          ),
        skills: agentChoices
          .skills()
          .optional()
          .describe('Skills that are offered, by name; without them, as in [agent].'),
        memory: z
          .boolean()
          .optional()
          .describe('Whether it remembers users beyond a session; without it, as in [agent].'),
        users: agentChoices
          .users()
          .optional()
          .register(keyMarks, { security: true })
          .describe("Who may talk to it: ids of users, role:<name>, or '*'; without them, as in [agent]."),
        tools: toolRule().optional().register(keyMarks, { security: true }),
      })
      .refine(({ system_prompt, system_prompt_file }) => !system_prompt || system_prompt_file === '', {
        path: ['system_prompt_file'],
        message: 'is set beside system_prompt; leave one of the two out',
      }),
  )
  .default({})
  .describe('Further agents, by name; [agent] describes the one named default.');
