import type OpenAI from 'openai';
import type {
  ContentPart,
  ModelMessage,
  ModelRequest,
  ModelTool,
  ToolChoice,
} from '../../model-provider.port.js';
import { answeredCalls } from '../protocol/answered-calls.js';
import {
  attachmentText,
  bareType,
  dataUrl,
  isPdf,
  oneLine,
  shownImageType,
} from '../protocol/attachment-text.js';
import { itemsOfState } from '../protocol/provider-state.js';
import type { ReasoningFields } from './chat-answer.js';
import { isOfficial, sentEffort } from './openai-models.js';

export type ChatParams = OpenAI.Chat.ChatCompletionCreateParamsStreaming;
type MessageParam = OpenAI.Chat.ChatCompletionMessageParam;
type AssistantParam = OpenAI.Chat.ChatCompletionAssistantMessageParam;
type PartParam = OpenAI.Chat.ChatCompletionContentPart;
type AssistantMessage = Extract<ModelMessage, { role: 'assistant' }>;

/** Models that can hear; any other refuses a call with a sound. */
const HEARS = /audio|omni|voxtral|gemini/i;
const SOUND_FORMATS: Readonly<Record<string, 'mp3' | 'wav'>> = {
  'audio/mpeg': 'mp3',
  'audio/mp3': 'mp3',
  'audio/wav': 'wav',
  'audio/x-wav': 'wav',
};

/** The form in which the model gets a sound; undefined when it cannot hear, or not this type. */
export function soundFormat(mimeType: string, model: string): 'mp3' | 'wav' | undefined {
  return HEARS.test(model) ? SOUND_FORMATS[bareType(mimeType)] : undefined;
}

/** A request of Chat Completions; what differs from call to call comes at its end. */
export function chatRequest(request: ModelRequest, model: string, baseUrl: string): ChatParams {
  const { sampling = {}, responseFormat, maxOutputTokens, conversationId } = request;
  const official = isOfficial(baseUrl);
  const effort = sentEffort(model, request.reasoning);
  return {
    model,
    stream: true,
    stream_options: { include_usage: true },
    ...(official
      ? { max_completion_tokens: maxOutputTokens }
      : // eslint-disable-next-line @typescript-eslint/no-deprecated -- what the others understand
        { max_tokens: maxOutputTokens }),
    ...(official && conversationId !== undefined && { prompt_cache_key: conversationId }),
    ...(effort !== undefined && { reasoning_effort: effort }),
    ...(sampling.temperature !== undefined && { temperature: sampling.temperature }),
    ...(sampling.topP !== undefined && { top_p: sampling.topP }),
    ...(sampling.stop !== undefined && { stop: [...sampling.stop] }),
    ...(responseFormat !== undefined && {
      response_format: { type: 'json_schema' as const, json_schema: { ...responseFormat } },
    }),
    ...toolParams(request),
    messages: chatMessages(request, model),
  };
}

function toolParams({ tools, sampling = {} }: ModelRequest): Partial<ChatParams> {
  if (tools.length === 0) return {};
  const { toolChoice, parallelToolCalls } = sampling;
  return {
    ...(toolChoice !== undefined && { tool_choice: choiceOf(toolChoice) }),
    ...(parallelToolCalls === false && { parallel_tool_calls: false }),
    tools: tools.map(toolParam),
  };
}

/** The history on this wire: every call of a tool is answered by a message of its own. */
function chatMessages({ system, messages, trailing = '' }: ModelRequest, model: string): MessageParam[] {
  const opening: MessageParam[] = system === '' ? [] : [{ role: 'system', content: system }];
  const params = answeredCalls(messages).flatMap((message) => messageParams(message, model));
  return withTrailing([...opening, ...params], trailing);
}

/**
 * At the end of the last message: many models' templates refuse an additional message, or a system message in the
 * middle.
 */
function withTrailing(params: MessageParam[], trailing: string): MessageParam[] {
  if (trailing.trim() === '') return params;
  const last = params.at(-1);
  if (last?.role !== 'user' && last?.role !== 'tool') return [...params, { role: 'user', content: trailing }];
  const { content } = last;
  const extended =
    typeof content === 'string'
      ? `${content}\n\n${trailing}`
      : [...content, { type: 'text' as const, text: trailing }];
  return [...params.slice(0, -1), { ...last, content: extended } as MessageParam];
}

function messageParams(message: ModelMessage, model: string): MessageParam[] {
  switch (message.role) {
    case 'user':
      return [{ role: 'user', content: userContent(message.parts, model) }];
    case 'assistant':
      return message.text === '' && message.toolCalls.length === 0 ? [] : [assistantParam(message, model)];
    case 'tool':
      return resultParams(message.results, model);
    default:
      return message satisfies never;
  }
}

/** A tool's result is text on this wire; anything else is sent as the user's, after all results. */
function resultParams(
  results: Extract<ModelMessage, { role: 'tool' }>['results'],
  model: string,
): MessageParam[] {
  const answers = results.map(({ callId, content, parts = [] }): MessageParam => {
    const text = parts.length > 0 && content === '' ? '(shown below)' : content;
    return { role: 'tool', tool_call_id: callId, content: text };
  });
  const shown = results.flatMap(({ callId, parts = [] }): ContentPart[] =>
    parts.length === 0 ? [] : [{ type: 'text', text: `The call ${callId} returned:` }, ...parts],
  );
  return shown.length === 0 ? answers : [...answers, { role: 'user', content: userContent(shown, model) }];
}

/** Plain text stays a string: some compatible servers understand nothing else. */
function userContent(parts: readonly ContentPart[], model: string): string | PartParam[] {
  const params = parts.map((part) => partParam(part, model));
  return params.every((part) => part.type === 'text') ? params.map((part) => part.text).join('\n\n') : params;
}

function partParam(part: ContentPart, model: string): PartParam {
  if (part.type === 'text') return { type: 'text', text: part.text };
  if (part.type === 'image' && shownImageType(part.mimeType)) {
    return { type: 'image_url', image_url: { url: dataUrl(part) } };
  }
  if (part.type === 'file' && isPdf(part.mimeType)) {
    return { type: 'file', file: { filename: oneLine(part.name), file_data: dataUrl(part) } };
  }
  const format = soundFormat(part.mimeType, model);
  if (format !== undefined) {
    return { type: 'input_audio', input_audio: { data: part.data, format } };
  }
  return { type: 'text', text: attachmentText(part) };
}

function assistantParam(message: AssistantMessage, model: string): AssistantParam {
  const maker = { kind: 'openai', wire: 'chat', model } as const;
  const [fields] = itemsOfState<ReasoningFields>(message.providerState, maker) ?? [];
  const { extra_content: extras = {}, ...reasoning } = fields ?? {};
  const calls = message.toolCalls.map((call) => ({
    id: call.id,
    type: 'function' as const,
    function: { name: call.name, arguments: JSON.stringify(call.arguments) },
    ...(extras[call.id] !== undefined && { extra_content: extras[call.id] }),
  }));
  return {
    role: 'assistant',
    content: message.text === '' ? null : message.text,
    ...reasoning,
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}

function toolParam(tool: ModelTool): OpenAI.Chat.ChatCompletionFunctionTool {
  return {
    type: 'function',
    function: { name: tool.name, description: tool.description, parameters: { ...tool.inputSchema } },
  };
}

function choiceOf(choice: ToolChoice): OpenAI.Chat.ChatCompletionToolChoiceOption {
  return typeof choice === 'string' ? choice : { type: 'function', function: { name: choice.name } };
}
