import type OpenAI from 'openai';
import type {
  ContentPart,
  ModelMessage,
  ModelRequest,
  ModelTool,
  ModelToolResult,
  ToolChoice,
} from '../../model-provider.port.js';
import { answeredCalls } from '../protocol/answered-calls.js';
import { attachmentText, dataUrl, isPdf, oneLine, shownImageType } from '../protocol/attachment-text.js';
import { itemsOfState } from '../protocol/provider-state.js';
import { mayReason, sentEffort } from './openai-models.js';

export type ResponsesParams = OpenAI.Responses.ResponseCreateParamsStreaming;
type InputItem = OpenAI.Responses.ResponseInputItem;
type PartParam =
  | OpenAI.Responses.ResponseInputText
  | OpenAI.Responses.ResponseInputImage
  | OpenAI.Responses.ResponseInputFile;

/** The API refuses a smaller bound. */
const LEAST_OUTPUT_TOKENS = 16;

/**
 * A request of the Responses API that stores nothing at the provider: the model's reasoning comes back encrypted and is
 * sent again within the turn. What differs from call to call comes at its end.
 */
export function responsesRequest(request: ModelRequest, model: string): ResponsesParams {
  const { responseFormat, system, conversationId } = request;
  return {
    model,
    stream: true,
    store: false,
    ...reasoningParams(request, model),
    max_output_tokens: Math.max(LEAST_OUTPUT_TOKENS, request.maxOutputTokens),
    ...(conversationId !== undefined && { prompt_cache_key: conversationId }),
    ...(responseFormat !== undefined && {
      text: { format: { type: 'json_schema' as const, ...responseFormat } },
    }),
    ...choiceParams(request),
    ...(system !== '' && { instructions: system }),
    input: inputItems(request, model),
  };
}

function reasoningParams(
  { reasoning, showReasoning }: ModelRequest,
  model: string,
): Partial<ResponsesParams> {
  if (!mayReason(model)) return {};
  const effort = sentEffort(model, reasoning);
  const asked = {
    ...(effort !== undefined && { effort }),
    ...(showReasoning === true && { summary: 'auto' as const }),
  };
  return {
    include: ['reasoning.encrypted_content'],
    ...(Object.keys(asked).length > 0 && { reasoning: asked }),
  };
}

function choiceParams({ sampling = {}, tools }: ModelRequest): Partial<ResponsesParams> {
  const { temperature, topP, toolChoice, parallelToolCalls } = sampling;
  return {
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { top_p: topP }),
    ...(tools.length > 0 && toolChoice !== undefined && { tool_choice: choiceOf(toolChoice) }),
    ...(tools.length > 0 && parallelToolCalls === false && { parallel_tool_calls: false }),
    ...(tools.length > 0 && { tools: tools.map(toolParam) }),
  };
}

function inputItems({ messages, trailing = '' }: ModelRequest, model: string): InputItem[] {
  const items = answeredCalls(messages).flatMap((message) => messageItems(message, model));
  return trailing.trim() === '' ? items : [...items, { role: 'developer', content: trailing }];
}

function messageItems(message: ModelMessage, model: string): InputItem[] {
  switch (message.role) {
    case 'user':
      return [{ role: 'user', content: message.parts.map(partParam) }];
    case 'assistant':
      return assistantItems(message, model);
    case 'tool':
      return message.results.map(resultItem);
    default:
      return message satisfies never;
  }
}

function assistantItems(
  { text, toolCalls, providerState }: Extract<ModelMessage, { role: 'assistant' }>,
  model: string,
): InputItem[] {
  const items = itemsOfState<InputItem>(providerState, { kind: 'openai', wire: 'responses', model });
  if (items !== undefined) return [...items];
  const calls = toolCalls.map(
    (call): InputItem => ({
      type: 'function_call',
      call_id: call.id,
      name: call.name,
      arguments: JSON.stringify(call.arguments),
    }),
  );
  return text === '' ? calls : [{ role: 'assistant', content: text }, ...calls];
}

function resultItem({ callId, content, parts = [] }: ModelToolResult): InputItem {
  const texts: ContentPart[] = content === '' ? [] : [{ type: 'text', text: content }];
  return {
    type: 'function_call_output',
    call_id: callId,
    output: parts.length === 0 ? content : [...texts, ...parts].map(partParam),
  };
}

function partParam(part: ContentPart): PartParam {
  if (part.type === 'text') return { type: 'input_text', text: part.text };
  if (part.type === 'image' && shownImageType(part.mimeType)) {
    return { type: 'input_image', detail: 'auto', image_url: dataUrl(part) };
  }
  if (part.type === 'file' && isPdf(part.mimeType)) {
    return { type: 'input_file', filename: oneLine(part.name), file_data: dataUrl(part) };
  }
  return { type: 'input_text', text: attachmentText(part) };
}

function toolParam(tool: ModelTool): OpenAI.Responses.FunctionTool {
  const { name, description, inputSchema } = tool;
  // Schemas of other people's tools do not fit the subset of the strict mode, which is this wire's default.
  return { type: 'function', name, description, parameters: { ...inputSchema }, strict: false };
}

function choiceOf(
  choice: ToolChoice,
): OpenAI.Responses.ToolChoiceOptions | OpenAI.Responses.ToolChoiceFunction {
  return typeof choice === 'string' ? choice : { type: 'function', name: choice.name };
}
