import type Anthropic from '@anthropic-ai/sdk';
import type { ModelMessage, ModelRequest, ModelTool } from '../../model-provider.port.js';
import { AnthropicContent } from './anthropic-content.js';
import { anthropicMessages } from './anthropic-messages.js';

export type AnthropicParams = Anthropic.MessageCreateParamsStreaming;

export function anthropicRequest(request: ModelRequest, model: string): AnthropicParams {
  const offered = request.tools.map(toolParam);
  const tools: Anthropic.ToolUnion[] = offered.length > 0 ? offered : toolsOfHistory(request.messages);
  return {
    model,
    max_tokens: request.maxOutputTokens,
    stream: true,
    ...(request.system !== '' && { system: request.system }),
    messages: anthropicMessages(request.messages, model),
    ...(tools.length > 0 && { tools }),
    ...(offered.length === 0 && tools.length > 0 && { tool_choice: { type: 'none' as const } }),
  };
}

function toolParam(tool: ModelTool): Anthropic.Tool {
  return {
    name: tool.name,
    description: tool.description,
    input_schema: { ...tool.inputSchema, type: 'object' },
  };
}

/**
 * A history with tool calls needs their tools even when none is offered any more, and thinking stays valid only
 * while the tools it was written under are unchanged; so they are sent along and calling them is forbidden.
 */
function toolsOfHistory(messages: readonly ModelMessage[]): Anthropic.ToolUnion[] {
  const assistants = messages.filter((message) => message.role === 'assistant');
  const state = assistants
    .map((message) => message.providerState)
    .findLast((item) => item instanceof AnthropicContent);
  if (state !== undefined) return [...state.tools];
  const names = new Set(assistants.flatMap((message) => message.toolCalls.map((call) => call.name)));
  return [...names].map((name) => ({ name, input_schema: { type: 'object' } }));
}
