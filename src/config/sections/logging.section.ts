import { z } from 'zod';
import { keyMarks } from '../key-marks.js';

export const loggingSection = z.strictObject({
  level: z
    .enum(['trace', 'debug', 'info', 'warn', 'error'])
    .default('info')
    .describe('Least level that is written.'),
  format: z
    .enum(['auto', 'json', 'pretty'])
    .default('auto')
    .register(keyMarks, { restart: true })
    .describe('auto is pretty on a terminal and JSON lines otherwise.'),
});
