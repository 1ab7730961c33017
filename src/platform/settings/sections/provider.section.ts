import { z } from 'zod';
import { keyMarks } from '../key-marks.js';
import { httpUrl, integer } from './key-types.js';

export const providerSection = z.strictObject({
  kind: z
    .enum(['auto', 'anthropic', 'openai', 'offline'])
    .default('auto')
    .describe('auto takes ANTHROPIC_API_KEY, then OPENAI_API_KEY, then offline.'),
  model: z.string().max(256).default('').describe('The default model; empty takes the default of the kind.'),
  api_key: z
    .string()
    .max(4096)
    .default('')
    .register(keyMarks, { secret: true, security: true })
    .describe('Key of the provider; empty takes ANTHROPIC_API_KEY or OPENAI_API_KEY.'),
  base_url: httpUrl()
    .default('')
    .register(keyMarks, { fileOnly: true })
    .describe(
      'Another server that speaks the same wire (vLLM, Ollama, a proxy); empty takes the official one.',
    ),
  max_retries: integer(0, 10).default(2).describe('Further attempts at a call of which nothing arrived.'),
});
