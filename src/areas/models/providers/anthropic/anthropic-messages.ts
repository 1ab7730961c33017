import type Anthropic from '@anthropic-ai/sdk';
import type { ContentPart, ModelMessage, ModelToolResult } from '../../model-provider.port.js';
import { answeredCalls } from '../wire/answered-calls.js';
import { attachmentText, isPdf, oneLine, shownImageType } from '../wire/attachment-text.js';
import { AnthropicContent } from './anthropic-content.js';

type BlockParam = Anthropic.ContentBlockParam;
type AssistantMessage = Extract<ModelMessage, { role: 'assistant' }>;
interface Turn {
  readonly role: 'user' | 'assistant';
  readonly content: BlockParam[];
}

/** The history on this wire: the user speaks first and turns alternate, so all results of tools share one message. */
export function anthropicMessages(messages: readonly ModelMessage[], model: string): Turn[] {
  const turns: Turn[] = [];
  for (const message of answeredCalls(messages)) {
    const role = message.role === 'assistant' ? 'assistant' : 'user';
    const content = contentOf(message, model);
    const last = turns.at(-1);
    if (content.length === 0) continue;
    if (last?.role === role) last.content.push(...content);
    else turns.push({ role, content });
  }
  const startsMidway = turns[0]?.role === 'assistant';
  return startsMidway
    ? [{ role: 'user', content: [text('(Earlier messages are left out.)')] }, ...turns]
    : turns;
}

function contentOf(message: ModelMessage, model: string): BlockParam[] {
  switch (message.role) {
    case 'user':
      return withoutBlanks(message.parts.map(partBlock), '(empty message)');
    case 'assistant':
      return assistantBlocks(message, model);
    case 'tool':
      return message.results.map(resultBlock);
    default:
      return message satisfies never;
  }
}

/** The wire refuses text of nothing but blanks. */
function withoutBlanks(blocks: BlockParam[], otherwise: string): BlockParam[] {
  const kept = blocks.filter((block) => block.type !== 'text' || block.text.trim() !== '');
  return kept.length > 0 ? kept : [text(otherwise)];
}

function partBlock(part: ContentPart): BlockParam {
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
  const state = message.providerState;
  // Another model cannot read this one's thinking.
  if (state instanceof AnthropicContent && state.model === model) return [...state.blocks];
  const calls = message.toolCalls.map(
    (call): BlockParam => ({ type: 'tool_use', id: call.id, name: call.name, input: call.arguments }),
  );
  return message.text.trim() === '' ? calls : [text(message.text), ...calls];
}

function resultBlock(result: ModelToolResult): BlockParam {
  return {
    type: 'tool_result',
    tool_use_id: result.callId,
    content: result.content,
    ...(result.isError && { is_error: true }),
  };
}

const text = (value: string): Anthropic.TextBlockParam => ({ type: 'text', text: value });
