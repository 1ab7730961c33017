import { z } from 'zod';
import { keyMarks } from '../key-marks.js';
import { approvalRules, httpUrl, integer, millis, patterns, toolRule, variableName } from './key-types.js';

const reasoning = () => z.enum(['auto', 'none', 'minimal', 'low', 'medium', 'high']);

/** The keys that every agent can set. `[agent]` sets them for `default`, and for every agent that leaves them out. */
export const agentChoices = {
  description: () => z.string().max(1024),
  models: () => z.array(z.string().min(1).max(256)).max(16),
  reasoning,
  showReasoning: () => z.boolean(),
  maxOutputTokens: () => integer(1, 1_000_000),
  temperature: () => z.number().min(0).max(2).optional(),
  topP: () => z.number().min(0).max(1).optional(),
  stop: () => z.array(z.string().min(1).max(64)).max(4),
  toolChoice: () =>
    z
      .string()
      .max(64)
      .refine((text) => /^[a-zA-Z0-9_-]*$/.test(text), 'must be auto, none, required or the name of a tool'),
  skills: patterns,
  users: () => z.array(z.string().min(1).max(600)).max(10_000),
};

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
  reasoning: agentChoices
    .reasoning()
    .default('auto')
    .describe(
      'How much the model thinks before it answers; auto is the default of the provider. A level that a model does not support is refused.',
    ),
  show_reasoning: agentChoices
    .showReasoning()
    .default(false)
    .describe(
      'Whether callers see the thoughts of the model, in events named reasoning, if its provider shows them; they are never part of an answer.',
    ),
  session_idle_secs: integer(1, 31_536_000)
    .default(300)
    .describe('Inactivity after which a session is idle, in seconds.'),
  session_timeout_secs: integer(1, 31_536_000)
    .default(3600)
    .describe('Inactivity after which a session ends, in seconds.'),
  session_retention_days: integer(0, 36_500)
    .default(0)
    .register(keyMarks, { security: true })
    .describe('Days that a session and its history are kept after its end; 0 keeps them forever.'),
  content_retention_days: integer(0, 36_500)
    .default(0)
    .register(keyMarks, { security: true })
    .describe(
      'Days that the texts of a session are kept after its end; rows and counts stay. 0 keeps them with the session.',
    ),
  on_busy: z
    .enum(['queue', 'reject'])
    .default('queue')
    .describe(
      'What happens to a message for a session with a running turn: queue lets it wait in order, reject refuses it.',
    ),
  max_waiting: integer(0, 10_000).default(8).describe('Most messages waiting for one session.'),
  max_wait_ms: millis(30_000).describe(
    'Longest wait for a busy session, in milliseconds; a caller whose turn awaits approval gets 202 after it.',
  ),
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
  tool_approval_timeout_ms: millis(120_000, 2_592_000_000)
    .register(keyMarks, { security: true })
    .describe('How long a call waits for a person before it counts as denied, in milliseconds.'),
  tool_timeout_ms: millis(60_000).describe('Longest single tool call, in milliseconds.'),
  turn_timeout_ms: millis(900_000, 86_400_000).describe('Longest turn, in milliseconds.'),
  resume: z
    .boolean()
    .default(true)
    .describe(
      'Whether another replica continues the turns of a replica that died or stopped; else they are interrupted.',
    ),
  context_tokens: integer(1000, 100_000_000)
    .default(100_000)
    .describe(
      'Context window of the model, in estimated tokens: for instructions, tools, history and answer together.',
    ),
  context_media_bytes: integer(1, 1_073_741_824)
    .default(20_971_520)
    .describe(
      'Most bytes of pictures and files that are given to the model at once; past it, the oldest are left out, down to a share of 0.6. Those of the last message are always given.',
    ),
  compact_at: z
    .number()
    .min(0.1)
    .max(0.95)
    .default(0.8)
    .describe(
      'Share of context_tokens past which the oldest part of a history is taken out, down to a share of 0.6.',
    ),
  compaction: z
    .enum(['summary', 'drop'])
    .default('summary')
    .describe(
      'What becomes of messages that are taken out: summary has the model sum them up in a call of its own, drop leaves them out.',
    ),
  history_max_messages: integer(2, 10_000)
    .default(200)
    .describe('Most earlier messages given to the model; past it, the oldest part is taken out.'),
  description: agentChoices
    .description()
    .default('')
    .describe('What the agent default is for, for people and clients.'),
  models: agentChoices
    .models()
    .default([])
    .describe(
      'Models that answer, the first one first and each next one when the one before it fails: model or provider/model; empty is the default model of [provider].',
    ),
  temperature: agentChoices.temperature().describe('How freely the next token is chosen.'),
  top_p: agentChoices.topP().describe('From which share of likely tokens the next one is chosen.'),
  stop: agentChoices.stop().default([]).describe('Texts, each of which ends an answer.'),
  tool_choice: agentChoices
    .toolChoice()
    .default('')
    .describe(
      'Whether tools may be called, have to be, or which one has to be in the first call of the model: auto, none, required, or a name; empty is the default of the provider.',
    ),
  skills: agentChoices
    .skills()
    .default(['*'])
    .describe('Skills that are offered, by name; * stands for any characters.'),
  memory: z.boolean().default(true).describe('Whether it remembers users beyond a session.'),
  users: agentChoices
    .users()
    .default(['*'])
    .register(keyMarks, { security: true })
    .describe("Who may talk to it: ids of users, role:<name>, or '*' for everyone."),
  tools: toolRule().prefault({}).register(keyMarks, { security: true }),
});

/** The keys that `[provider]` and `[providers.<name>]` share. */
export function providerKeys() {
  return {
    model: z.string().max(256).default('').describe('The default model; empty uses the default of the kind.'),
    api_key: z
      .string()
      .max(4096)
      .default('')
      .register(keyMarks, { secret: true, security: true })
      .describe(
        'API key of the provider; empty uses api_key_env, and [provider] also ANTHROPIC_API_KEY or OPENAI_API_KEY.',
      ),
    api_key_env: variableName().describe('Name of the variable that holds the key instead.'),
    base_url: httpUrl()
      .default('')
      .register(keyMarks, { fileOnly: true })
      .describe('Another server with the same API (vLLM, Ollama, a proxy); empty uses the official one.'),
    wire: z
      .enum(['auto', 'responses', 'chat'])
      .default('auto')
      .describe(
        'How openai is spoken to: responses is the Responses API, chat is Chat Completions; auto is responses at api.openai.com and chat elsewhere.',
      ),
    max_retries: integer(0, 10)
      .default(2)
      .describe('Retries of a call before any of its answer has arrived.'),
    allowed_models: patterns()
      .default(['*'])
      .register(keyMarks, { security: true })
      .describe('Models that callers may name for a session; * stands for any characters.'),
    cooldown_secs: integer(0, 3600)
      .default(30)
      .describe(
        'How long a model that failed is passed over where another one can answer, over all replicas, in seconds.',
      ),
  };
}

export const providerSection = z.strictObject({
  kind: z
    .enum(['auto', 'anthropic', 'openai', 'offline'])
    .default('auto')
    .describe(
      'auto is anthropic if ANTHROPIC_API_KEY is set, else openai if OPENAI_API_KEY is, else offline.',
    ),
  ...providerKeys(),
});

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
    .register(keyMarks, { security: true })
    .describe('Most memories of one user; past it, the least recently used are deleted.'),
});

export const multimodalSection = z.strictObject({
  allow_remote_fetch: z
    .boolean()
    .default(false)
    .describe('Whether attachments given as a URL are fetched, through the outbound guard.'),
  fetch_timeout_ms: millis(15_000, 300_000).describe(
    'Longest time to fetch all remote attachments of one message, in milliseconds.',
  ),
});

/** The gateway's own tools that run without approval: they read skills, or remember what the session's user said. */
const HARMLESS = ['memory_recall', 'memory_store', 'skill_read'];

/** Who may run which tool, and which calls wait for a person. This decides what the agent may do. */
export const toolsSection = z
  .strictObject({
    approval: z
      .strictObject({
        ask: approvalRules()
          .default([])
          .describe(
            'Calls that wait for a person, even if never names them: a tool (* stands for any characters), or { tool = "…", when = { argument = "…" } } for calls whose arguments fit.',
          ),
        never: approvalRules()
          .default(HARMLESS)
          .describe(
            'Harmless calls, written like those of ask: with agent.tool_approval = "ask" all others wait for a person, whatever a tool says of itself.',
          ),
        separate: z
          .boolean()
          .default(false)
          .describe(
            'Whether somebody other than the sender of a message has to decide about its calls: its token, tokens that it made, and its user may not.',
          ),
      })
      .prefault({}),
    repeatable: patterns()
      .default([])
      .describe(
        'Tools that may be called again when the replica that called them died before it had their result; * stands for any characters.',
      ),
    channels: z
      .record(z.string().min(1).max(128), toolRule())
      .default({})
      .describe('Which tools may run for a channel; a channel without an entry may use all.'),
    tokens: z
      .record(z.string().min(1).max(128), toolRule())
      .default({})
      .describe(
        'Which tools may run in turns of a token, by its name or id; a token without an entry may use all.',
      ),
  })
  .register(keyMarks, { security: true });

/** Turns that outlive their replica. */
export const turnsSection = z.strictObject({
  max_attempts: integer(1, 100)
    .default(3)
    .describe(
      'How often a turn whose replica died is tried without a completed step in between, before it counts as interrupted; it gets a minute in any case.',
    ),
  park_after_ms: integer(0, 60_000)
    .default(5000)
    .describe(
      'How long a turn occupies its replica while it waits only for a person, in milliseconds; then any replica may continue it.',
    ),
});
