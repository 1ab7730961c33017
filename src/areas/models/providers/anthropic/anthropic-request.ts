import type Anthropic from '@anthropic-ai/sdk';
import type {
  ContentPart,
  ModelMessage,
  ModelRequest,
  ModelTool,
  ModelToolResult,
  SamplingOptions,
} from '../../model-provider.port.js';
import { answeredCalls } from '../protocol/answered-calls.js';
import { attachmentText, isPdf, oneLine, shownImageType } from '../protocol/attachment-text.js';
import { itemsOfState } from '../protocol/provider-state.js';
import { type AnswerFormat, answerFormat } from './answer-format.js';
import { claudeThinking } from './anthropic-models.js';

/** With parameters that the SDK's types no longer have, because the newest models do not accept them. */
export type AnthropicParams = Anthropic.MessageCreateParamsStreaming & {
  readonly temperature?: number;
  readonly top_p?: number;
};
type BlockParam = Anthropic.ContentBlockParam;
type SimpleBlock = Anthropic.TextBlockParam | Anthropic.ImageBlockParam | Anthropic.DocumentBlockParam;
type AssistantMessage = Extract<ModelMessage, { role: 'assistant' }>;

export interface AnthropicTurn {
  readonly role: 'user' | 'assistant';
  readonly content: BlockParam[];
}

/** Ends a prefix that is to be cached; a request may have four. */
const BREAKPOINT = { cache_control: { type: 'ephemeral' } } as const;

/**
 * A request in the order in which the wire reads it, so that the next call begins with the same bytes. Cache
 * breakpoints come after the tools, the system prompt, the last message and the user's message before it. The last of
 * these helps a call that adds more blocks than the provider looks back: it still finds the prefix of the call before.
 */
export function anthropicRequest(request: ModelRequest, model: string): AnthropicParams {
  const { system, responseFormat, trailing = '' } = request;
  const format = responseFormat === undefined ? {} : answerFormat(responseFormat, model);
  return {
    model,
    max_tokens: request.maxOutputTokens,
    stream: true,
    ...optionParams(request, model, format),
    ...samplingParams(request.sampling),
    ...toolParams(request),
    ...(system !== '' && { system: withBreakpoint([text(system)]) }),
    messages: anthropicMessages(request.messages, [trailing, format.words ?? ''], model),
  };
}

function optionParams(
  { reasoning = 'auto', showReasoning = false }: ModelRequest,
  model: string,
  { schema }: AnswerFormat,
): Partial<AnthropicParams> {
  const { thinking, effort } = claudeThinking(model, reasoning, showReasoning);
  const output = {
    ...(effort !== undefined && { effort }),
    ...(schema !== undefined && { format: { type: 'json_schema' as const, schema } }),
  };
  return {
    ...(thinking !== undefined && { thinking }),
    ...(Object.keys(output).length > 0 && { output_config: output }),
  };
}

function samplingParams({ temperature, topP, stop }: SamplingOptions = {}): Partial<AnthropicParams> {
  return {
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { top_p: topP }),
    ...(stop !== undefined && { stop_sequences: [...stop] }),
  };
}

function toolParams({ tools: given, messages, sampling }: ModelRequest): Partial<AnthropicParams> {
  const offered = given.map(toolParam);
  const tools = offered.length > 0 ? offered : toolsOfHistory(messages);
  if (tools.length === 0) return {};
  const choice = offered.length > 0 ? toolChoice(sampling) : ({ type: 'none' } as const);
  return { ...(choice !== undefined && { tool_choice: choice }), tools: withBreakpoint(tools) };
}

/** The history on this wire: the user speaks first and turns alternate, so all results of tools share one message. */
function anthropicMessages(
  messages: readonly ModelMessage[],
  trailing: readonly string[],
  model: string,
): AnthropicTurn[] {
  const turns: AnthropicTurn[] = [];
  for (const message of answeredCalls(messages)) {
    const role = message.role === 'assistant' ? 'assistant' : 'user';
    const content = contentOf(message, model);
    const last = turns.at(-1);
    if (content.length === 0) continue;
    if (last?.role === role) last.content.push(...content);
    else turns.push({ role, content });
  }
  if (turns[0]?.role === 'assistant') {
    turns.unshift({ role: 'user', content: [text('(Earlier messages are left out.)')] });
  }
  const ofUser = turns.filter(({ role }) => role === 'user');
  for (const turn of ofUser.slice(-2)) turn.content.push(...withBreakpoint(turn.content.splice(-1)));
  const behind = trailing.filter((one) => one.trim() !== '').map(text);
  if (behind.length === 0) return turns;
  const last = turns.at(-1);
  if (last?.role === 'user') last.content.push(...behind);
  else turns.push({ role: 'user', content: behind });
  return turns;
}

function withBreakpoint<Block extends object>(blocks: readonly Block[]): Block[] {
  return blocks.map((block, index) => (index === blocks.length - 1 ? { ...block, ...BREAKPOINT } : block));
}

function contentOf(message: ModelMessage, model: string): BlockParam[] {
  switch (message.role) {
    case 'user':
      return withoutBlanks(message.parts.map(partBlock), '(empty message)');
    case 'assistant':
      return assistantBlocks(message, model);
    case 'tool':
      return [...message.results.map(resultBlock), ...message.results.flatMap(shownBehind)];
    default:
      return message satisfies never;
  }
}

/** The wire refuses text that consists of blanks only. */
function withoutBlanks(blocks: readonly SimpleBlock[], otherwise: string): SimpleBlock[] {
  const kept = blocks.filter((block) => block.type !== 'text' || block.text.trim() !== '');
  return kept.length > 0 ? kept : [text(otherwise)];
}

function partBlock(part: ContentPart): SimpleBlock {
  if (part.type === 'text') return text(part.text);
  const imageType = part.type === 'image' ? shownImageType(part.mimeType) : undefined;
  if (imageType !== undefined) {
    return { type: 'image', source: { type: 'base64', media_type: imageType, data: part.data } };
  }
  if (part.type === 'file' && isPdf(part.mimeType)) {
    const source = { type: 'base64', media_type: 'application/pdf', data: part.data } as const;
    return { type: 'document', title: oneLine(part.name), source };
  }
  return text(attachmentText(part));
}

function assistantBlocks(message: AssistantMessage, model: string): BlockParam[] {
  const maker = { kind: 'anthropic', wire: 'messages', model } as const;
  const blocks = itemsOfState<BlockParam>(message.providerState, maker);
  if (blocks !== undefined) return [...blocks];
  const calls = message.toolCalls.map(
    (call): BlockParam => ({ type: 'tool_use', id: call.id, name: call.name, input: call.arguments }),
  );
  return message.text.trim() === '' ? calls : [text(message.text), ...calls];
}

/**
 * As the result of a failed call the wire accepts only text, and at least some; anything else comes after all results.
 */
function resultBlock({ callId, content, parts = [], isError }: ModelToolResult): BlockParam {
  const block = { type: 'tool_result', tool_use_id: callId } as const;
  if (isError) {
    const otherwise = parts.length > 0 ? '(shown below)' : '(no content)';
    return { ...block, content: content.trim() === '' ? otherwise : content, is_error: true };
  }
  const blocks = [text(content), ...parts.map(partBlock)];
  return { ...block, content: parts.length === 0 ? content : withoutBlanks(blocks, '(no content)') };
}

function shownBehind({ callId, parts = [], isError }: ModelToolResult): SimpleBlock[] {
  if (!isError || parts.length === 0) return [];
  return [text(`The call ${callId} returned:`), ...withoutBlanks(parts.map(partBlock), '(no content)')];
}

function toolParam(tool: ModelTool): Anthropic.Tool {
  return {
    name: tool.name,
    description: tool.description,
    input_schema: { ...tool.inputSchema, type: 'object' },
  };
}

/** A history with tool calls needs their tools even when none is offered any more; calls are then forbidden. */
function toolsOfHistory(messages: readonly ModelMessage[]): Anthropic.Tool[] {
  const calls = messages.flatMap((message) => (message.role === 'assistant' ? message.toolCalls : []));
  const names = [...new Set(calls.map(({ name }) => name))].sort();
  return names.map((name) => ({ name, input_schema: { type: 'object' } }));
}

function toolChoice({
  toolChoice: choice,
  parallelToolCalls,
}: SamplingOptions = {}): Anthropic.ToolChoice | undefined {
  const one = parallelToolCalls === false ? { disable_parallel_tool_use: true } : {};
  if (choice === undefined || choice === 'auto')
    return parallelToolCalls === false ? { type: 'auto', ...one } : undefined;
  if (choice === 'none') return { type: 'none' };
  return choice === 'required' ? { type: 'any', ...one } : { type: 'tool', name: choice.name, ...one };
}

const text = (value: string): Anthropic.TextBlockParam => ({ type: 'text', text: value });
