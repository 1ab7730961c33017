import type {
  ContentPart,
  ModelMessage,
  ModelRequest,
  ModelToolCall,
  ModelUsage,
} from './model-provider.port.js';

/** Estimates: no tokeniser fits every model. */
export const BYTES_PER_TOKEN = 4;
export const TOKENS_PER_MESSAGE = 8;
export const TOKENS_PER_IMAGE = 1600;

export interface ModelOutput {
  readonly text: string;
  readonly calls: readonly ModelToolCall[];
}

/** Tokens of a text: a quarter of its bytes, rounded up. */
export function estimatedTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);
}

/**
 * What a call is charged with: the provider's numbers, and an estimate in place of each one that it did not send, so that
 * budgets hold for every provider. A call that said nothing has no output to estimate.
 */
export function chargedUsage(counted: ModelUsage, request: ModelRequest, output: ModelOutput): ModelUsage {
  const lacksInput = counted.input === 0;
  const lacksOutput = counted.output === 0 && (output.text !== '' || output.calls.length > 0);
  if (!lacksInput && !lacksOutput) return counted;
  return {
    input: lacksInput ? inputTokens(request) : counted.input,
    output: lacksOutput ? outputTokens(output) : counted.output,
    estimated: true,
  };
}

/** The sum of two calls; it is an estimate when one of them is. */
export function addUsage(one: ModelUsage, other: ModelUsage): ModelUsage {
  const isEstimated = one.estimated === true || other.estimated === true;
  return {
    input: one.input + other.input,
    output: one.output + other.output,
    ...(isEstimated && { estimated: true }),
  };
}

function inputTokens({ system, messages, tools }: ModelRequest): number {
  const offered = tools.length === 0 ? 0 : estimatedTokens(JSON.stringify(tools));
  return messages.reduce((sum, message) => sum + messageTokens(message), estimatedTokens(system) + offered);
}

function outputTokens({ text, calls }: ModelOutput): number {
  return estimatedTokens(text) + callTokens(calls);
}

function messageTokens(message: ModelMessage): number {
  switch (message.role) {
    case 'user':
      return message.parts.reduce((sum, part) => sum + partTokens(part), TOKENS_PER_MESSAGE);
    case 'assistant':
      return TOKENS_PER_MESSAGE + estimatedTokens(message.text) + callTokens(message.toolCalls);
    case 'tool':
      return message.results.reduce(
        (sum, { content }) => sum + TOKENS_PER_MESSAGE + estimatedTokens(content),
        0,
      );
    default:
      return message satisfies never;
  }
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
