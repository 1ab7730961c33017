import type OpenAI from 'openai';
import type { ModelRequest, ModelTool } from '../../model-provider.port.js';
import { openAiMessages } from './openai-messages.js';

type RequestParams = OpenAI.Chat.ChatCompletionCreateParamsStreaming;

/** These models refuse tools on this endpoint unless they are told not to reason. */
const TOOLS_NEED_NO_REASONING = /^gpt-(5\.[5-9]|[6-9])/;
/** The services that refuse `max_tokens` for their newer models; many compatible servers know nothing else. */
const OFFICIAL_HOST = /(^|\.)(openai\.com|openai\.azure\.com)$/;

export function openAiRequest(request: ModelRequest, model: string, baseUrl: string): RequestParams {
  const tools = request.tools.map(toolParam);
  const official = OFFICIAL_HOST.test(new URL(baseUrl).hostname);
  return {
    model,
    messages: openAiMessages(request.system, request.messages),
    stream: true,
    stream_options: { include_usage: true },
    ...(official
      ? { max_completion_tokens: request.maxOutputTokens }
      : // eslint-disable-next-line @typescript-eslint/no-deprecated -- what the others understand
        { max_tokens: request.maxOutputTokens }),
    ...(tools.length > 0 && { tools }),
    ...(tools.length > 0 && TOOLS_NEED_NO_REASONING.test(model) && { reasoning_effort: 'none' as const }),
  };
}

function toolParam(tool: ModelTool): OpenAI.Chat.ChatCompletionFunctionTool {
  return {
    type: 'function',
    function: { name: tool.name, description: tool.description, parameters: { ...tool.inputSchema } },
  };
}
