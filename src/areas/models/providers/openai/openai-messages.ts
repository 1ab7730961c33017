import type OpenAI from 'openai';
import type { ContentPart, ModelMessage } from '../../model-provider.port.js';
import { answeredCalls } from '../wire/answered-calls.js';
import { attachmentText, bareType, isPdf, oneLine, shownImageType } from '../wire/attachment-text.js';

type MessageParam = OpenAI.Chat.ChatCompletionMessageParam;
type AssistantParam = OpenAI.Chat.ChatCompletionAssistantMessageParam;
type PartParam = OpenAI.Chat.ChatCompletionContentPart;
type AssistantMessage = Extract<ModelMessage, { role: 'assistant' }>;

/** The history on this wire: every call of a tool is answered by a message of its own. */
export function openAiMessages(system: string, messages: readonly ModelMessage[]): MessageParam[] {
  const opening: MessageParam[] = system === '' ? [] : [{ role: 'system', content: system }];
  return [...opening, ...answeredCalls(messages).flatMap(messageParams)];
}

function messageParams(message: ModelMessage): MessageParam[] {
  switch (message.role) {
    case 'user':
      return [{ role: 'user', content: userContent(message.parts) }];
    case 'assistant':
      return message.text === '' && message.toolCalls.length === 0 ? [] : [assistantParam(message)];
    case 'tool':
      return message.results.map((result) => ({
        role: 'tool',
        tool_call_id: result.callId,
        content: result.content,
      }));
    default:
      return message satisfies never;
  }
}

/** Plain text stays a string: some compatible servers know nothing else. */
function userContent(parts: readonly ContentPart[]): string | PartParam[] {
  const params = parts.map(partParam);
  return params.every((part) => part.type === 'text') ? params.map((part) => part.text).join('\n\n') : params;
}

function partParam(part: ContentPart): PartParam {
  if (part.type === 'text') return { type: 'text', text: part.text };
  if (part.type === 'image' && shownImageType(part.mimeType)) {
    return { type: 'image_url', image_url: { url: dataUrl(part) } };
  }
  if (part.type === 'file' && isPdf(part.mimeType)) {
    return { type: 'file', file: { filename: oneLine(part.name), file_data: dataUrl(part) } };
  }
  return { type: 'text', text: attachmentText(part) };
}

function dataUrl(part: { readonly mimeType: string; readonly data: string }): string {
  return `data:${bareType(part.mimeType)};base64,${part.data}`;
}

function assistantParam(message: AssistantMessage): AssistantParam {
  const calls = message.toolCalls.map((call) => ({
    id: call.id,
    type: 'function' as const,
    function: { name: call.name, arguments: JSON.stringify(call.arguments) },
  }));
  return {
    role: 'assistant',
    content: message.text === '' ? null : message.text,
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}
