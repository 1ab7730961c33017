import type { SpanContent } from '../../platform/tracing/span-content.js';
import type {
  ContentPart,
  FinishReason,
  ModelMessage,
  ModelRequest,
  ModelToolCall,
} from './model-provider.port.js';

/** What a model said in one call. */
export interface SaidContent {
  readonly text?: string;
  readonly calls?: readonly ModelToolCall[];
  readonly finishReason: FinishReason;
}

type Part = Readonly<Record<string, unknown>>;

/**
 * What a model is sent, in the form of OpenTelemetry's conventions for generative AI: texts, and files only by their
 * types.
 */
export function sentContent(
  { system, messages, trailing = '' }: ModelRequest,
  content: SpanContent,
): Readonly<Record<string, string>> {
  const all: readonly ModelMessage[] =
    trailing === '' ? messages : [...messages, { role: 'user', parts: [{ type: 'text', text: trailing }] }];
  return {
    ...(system !== '' && {
      'gen_ai.system_instructions': content.newest([system], (text) => textPart(text, content)),
    }),
    'gen_ai.input.messages': content.newest(all, (message) => ({
      role: message.role,
      parts: partsOf(message, content),
    })),
  };
}

export function saidContent(
  { text = '', calls = [], finishReason }: SaidContent,
  content: SpanContent,
): Readonly<Record<string, string>> {
  const message = { role: 'assistant', parts: said(text, calls, content), finish_reason: finishReason };
  return { 'gen_ai.output.messages': content.newest([message], (one) => one) };
}

function partsOf(message: ModelMessage, content: SpanContent): Part[] {
  switch (message.role) {
    case 'user':
      return message.parts.map((part) => shownPart(part, content));
    case 'assistant':
      return said(message.text, message.toolCalls, content);
    case 'tool':
      return message.results.map(({ callId, content: response }) => ({
        type: 'tool_call_response',
        id: callId,
        response: content.text(response),
      }));
    default:
      return message satisfies never;
  }
}

function said(text: string, calls: readonly ModelToolCall[], content: SpanContent): Part[] {
  const asked = calls.map(({ id, name, arguments: args }) => ({
    ...{ type: 'tool_call', id, name },
    arguments: content.text(JSON.stringify(args)),
  }));
  return text === '' ? asked : [textPart(text, content), ...asked];
}

function shownPart(part: ContentPart, content: SpanContent): Part {
  if (part.type === 'text') return textPart(part.text, content);
  const bytes = Buffer.byteLength(part.data, 'base64');
  return textPart(`[${part.type} of type ${part.mimeType}, ${bytes} bytes]`, content);
}

function textPart(text: string, content: SpanContent): Part {
  return { type: 'text', content: content.text(text) };
}
