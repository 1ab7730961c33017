import type { ModelMessage, ModelToolResult } from '../../model-provider.port.js';

type AssistantMessage = Extract<ModelMessage, { role: 'assistant' }>;

/**
 * The history with every tool call answered right after it, in the calls' order, and without any other results: both
 * wires refuse a history in which a turn was interrupted, or whose beginning was cut off.
 */
export function answeredCalls(messages: readonly ModelMessage[]): ModelMessage[] {
  const answered: ModelMessage[] = [];
  messages.forEach((message, index) => {
    if (message.role === 'tool') return;
    answered.push(message);
    if (message.role === 'assistant' && message.toolCalls.length > 0) {
      answered.push({ role: 'tool', results: resultsOf(message, messages.slice(index + 1)) });
    }
  });
  return answered;
}

function resultsOf(message: AssistantMessage, following: readonly ModelMessage[]): ModelToolResult[] {
  const given = new Map<string, ModelToolResult>();
  for (const next of following) {
    if (next.role !== 'tool') break;
    for (const result of next.results) given.set(result.callId, result);
  }
  return message.toolCalls.map(
    ({ id }) =>
      given.get(id) ?? { callId: id, content: 'No result: the call was interrupted.', isError: true },
  );
}
