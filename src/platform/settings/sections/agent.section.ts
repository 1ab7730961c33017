import { z } from 'zod';
import { keyMarks } from '../key-marks.js';
import { integer, millis } from './key-types.js';

export const agentSection = z.strictObject({
  system_prompt: z
    .string()
    .max(65_536)
    .default('You are a helpful assistant.')
    .describe('System prompt of a session that sets none of its own.'),
  max_turns: integer(1, 1000).default(50).describe('Model and tool rounds per message.'),
  max_tool_calls_per_turn: integer(0, 1000)
    .default(10)
    .describe(
      'Tool calls per message; further calls get an error result, and the model is asked once more without tools.',
    ),
  max_output_tokens: integer(1, 1_000_000).default(4096).describe('Most tokens in one model answer.'),
  session_idle_secs: integer(1, 31_536_000)
    .default(300)
    .describe('Inactivity after which a session is idle, in seconds.'),
  session_timeout_secs: integer(1, 31_536_000)
    .default(3600)
    .describe('Inactivity after which a session ends, in seconds.'),
  session_retention_days: integer(0, 36_500)
    .default(0)
    .describe('Days that a session and its history are kept after its end; 0 keeps them forever.'),
  on_busy: z
    .enum(['queue', 'reject'])
    .default('queue')
    .describe(
      'What happens to a message for a session with a running turn: queue lets it wait in order, reject refuses it.',
    ),
  max_waiting: integer(0, 10_000).default(8).describe('Most messages waiting for one session.'),
  max_wait_ms: millis(30_000).describe('Longest wait for a busy session, in milliseconds.'),
  first_byte_timeout_ms: millis(60_000).describe(
    'Longest wait for the first byte of a model answer, in milliseconds.',
  ),
  idle_timeout_ms: millis(60_000).describe('Longest pause within a model answer, in milliseconds.'),
  tool_approval: z
    .enum(['never', 'ask'])
    .default('never')
    .register(keyMarks, { security: true })
    .describe(
      'ask makes every tool call wait until a person allows it, except the tools of tools.approval.never.',
    ),
  tool_approval_timeout_ms: millis(120_000)
    .register(keyMarks, { security: true })
    .describe('How long a call waits for a person before it counts as denied, in milliseconds.'),
  tool_timeout_ms: millis(60_000).describe('Longest single tool call, in milliseconds.'),
  turn_timeout_ms: millis(900_000, 86_400_000).describe('Longest turn, in milliseconds.'),
  context_tokens: integer(1000, 100_000_000)
    .default(100_000)
    .describe(
      'Context window of the model, in estimated tokens; the oldest exchanges of a longer history are left out.',
    ),
  history_max_messages: integer(2, 10_000).default(200).describe('Most earlier messages given to the model.'),
});
