import type {
  ContentPart,
  ModelMessage,
  ModelRequest,
  ModelToolCall,
  ModelToolResult,
  ModelUsage,
} from './model-provider.port.js';

/** Estimates: no tokeniser fits every model. */
export const BYTES_PER_TOKEN = 4;
export const TOKENS_PER_MESSAGE = 8;
export const TOKENS_PER_IMAGE = 1600;

/** The counts that are part of `input` and `output` and have prices of their own. */
export const USAGE_PARTS = ['cachedInput', 'cacheWrite', 'reasoning'] as const;

export interface ModelOutput {
  readonly text: string;
  readonly calls: readonly ModelToolCall[];
}

/** Tokens of a text: a quarter of its bytes, rounded up. */
export function estimatedTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);
}

/**
 * The usage that a call is charged for: the provider's numbers, and an estimate for each number that it did not send,
 * so that budgets hold for every provider. A call without any answer has no output to estimate.
 */
export function chargedUsage(counted: ModelUsage, request: ModelRequest, output: ModelOutput): ModelUsage {
  const lacksInput = counted.input === 0;
  const lacksOutput = counted.output === 0 && (output.text !== '' || output.calls.length > 0);
  if (!lacksInput && !lacksOutput) return counted;
  return {
    ...counted,
    input: lacksInput ? inputTokens(request) : counted.input,
    output: lacksOutput ? outputTokens(output) : counted.output,
    estimated: true,
  };
}

/** The sum of two calls; an estimate when one of them is. A count that neither has stays absent. */
export function addUsage(one: ModelUsage, other: ModelUsage): ModelUsage {
  const sum: { -readonly [Part in keyof ModelUsage]: ModelUsage[Part] } = {
    input: one.input + other.input,
    output: one.output + other.output,
  };
  for (const part of USAGE_PARTS) {
    const tokens = (one[part] ?? 0) + (other[part] ?? 0);
    if (tokens > 0) sum[part] = tokens;
  }
  if (one.estimated === true || other.estimated === true) sum.estimated = true;
  return sum;
}

function inputTokens({ system, messages, tools, trailing = '' }: ModelRequest): number {
  const offered = tools.length === 0 ? 0 : estimatedTokens(JSON.stringify(tools));
  const around = estimatedTokens(system) + offered + estimatedTokens(trailing);
  return messages.reduce((sum, message) => sum + messageTokens(message), around);
}

function outputTokens({ text, calls }: ModelOutput): number {
  return estimatedTokens(text) + callTokens(calls);
}

/** Estimated tokens of a message as it is sent. */
export function messageTokens(message: ModelMessage): number {
  switch (message.role) {
    case 'user':
      return message.parts.reduce((sum, part) => sum + partTokens(part), TOKENS_PER_MESSAGE);
    case 'assistant':
      return TOKENS_PER_MESSAGE + estimatedTokens(message.text) + callTokens(message.toolCalls);
    case 'tool':
      return message.results.reduce((sum, result) => sum + resultTokens(result), 0);
    default:
      return message satisfies never;
  }
}

function resultTokens({ content, parts = [] }: ModelToolResult): number {
  return parts.reduce((sum, part) => sum + partTokens(part), TOKENS_PER_MESSAGE + estimatedTokens(content));
}

function partTokens(part: ContentPart): number {
  if (part.type === 'text') return estimatedTokens(part.text);
  // Base64 has four characters for three bytes.
  return part.type === 'image' ? TOKENS_PER_IMAGE : Math.ceil((part.data.length * 3) / (4 * BYTES_PER_TOKEN));
}

function callTokens(calls: readonly ModelToolCall[]): number {
  return calls.reduce(
    (sum, call) => sum + TOKENS_PER_MESSAGE + estimatedTokens(call.name + JSON.stringify(call.arguments)),
    0,
  );
}
