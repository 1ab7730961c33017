import { z } from 'zod';
import { keyMarks } from '../key-marks.js';
import { httpUrl, integer } from './key-types.js';

export const providerSection = z.strictObject({
  kind: z
    .enum(['auto', 'anthropic', 'openai', 'offline'])
    .default('auto')
    .describe(
      'auto is anthropic if ANTHROPIC_API_KEY is set, else openai if OPENAI_API_KEY is, else offline.',
    ),
  model: z.string().max(256).default('').describe('The default model; empty uses the default of the kind.'),
  api_key: z
    .string()
    .max(4096)
    .default('')
    .register(keyMarks, { secret: true, security: true })
    .describe('API key of the provider; empty uses ANTHROPIC_API_KEY or OPENAI_API_KEY.'),
  base_url: httpUrl()
    .default('')
    .register(keyMarks, { fileOnly: true })
    .describe('Another server with the same API (vLLM, Ollama, a proxy); empty uses the official one.'),
  max_retries: integer(0, 10).default(2).describe('Retries of a call of which nothing has arrived yet.'),
});
