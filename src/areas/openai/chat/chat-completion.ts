import type { ModelUsage } from '../../models/models.api.js';
import type { Message } from '../../turns/turns.api.js';

/** What an answer and each of its chunks begin with. */
export interface ChatHead {
  /** `chatcmpl-…`. */
  readonly id: string;
  /** In Unix seconds. */
  readonly created: number;
  /** The model as it was requested. */
  readonly model: string;
}

type ChatFinish = 'stop' | 'length' | 'tool_calls' | 'content_filter';

interface ChatToolCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
}

export interface ChatUsage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
  readonly prompt_tokens_details: { readonly cached_tokens: number };
  readonly completion_tokens_details: { readonly reasoning_tokens: number };
}

export interface ChatCompletion {
  readonly id: string;
  readonly object: 'chat.completion';
  readonly created: number;
  readonly model: string;
  readonly choices: readonly [
    {
      readonly index: 0;
      readonly message: {
        readonly role: 'assistant';
        readonly content: string | null;
        readonly refusal: string | null;
        readonly tool_calls?: readonly ChatToolCall[];
      };
      readonly logprobs: null;
      readonly finish_reason: ChatFinish;
    },
  ];
  readonly usage: ChatUsage;
}

export function chatCompletion({ id, created, model }: ChatHead, answer: Message): ChatCompletion {
  const calls = openCalls(answer);
  const isRefusal = answer.finishReason === 'refusal';
  const content = answer.content === '' && calls.length > 0 ? null : answer.content;
  const message = {
    role: 'assistant' as const,
    content: isRefusal ? null : content,
    refusal: isRefusal ? answer.content : null,
    ...(calls.length > 0 && { tool_calls: calls }),
  };
  const choice = { index: 0 as const, message, logprobs: null, finish_reason: finishOf(answer) };
  const usage = chatUsage(answer.usage);
  return { id, object: 'chat.completion', created, model, choices: [choice], usage };
}

/** The calls that the client has to make. */
export function openCalls({ toolCalls }: Message): readonly ChatToolCall[] {
  return toolCalls
    .filter(({ status }) => status === 'pending')
    .map(({ id, name, arguments: args }) => ({
      id,
      type: 'function',
      function: { name, arguments: JSON.stringify(args) },
    }));
}

export function finishOf(answer: Message): ChatFinish {
  if (openCalls(answer).length > 0) return 'tool_calls';
  switch (answer.finishReason) {
    case 'length':
      return 'length';
    case 'content_filter':
      return 'content_filter';
    default:
      return 'stop';
  }
}

export function chatUsage(usage: ModelUsage = { input: 0, output: 0 }): ChatUsage {
  const { input, output, cachedInput = 0, reasoning = 0 } = usage;
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cachedInput },
    completion_tokens_details: { reasoning_tokens: reasoning },
  };
}
