import {
  type CreateMessageRequestParams,
  type CreateMessageResult,
  ProtocolError,
  ProtocolErrorCode,
  type SamplingMessage,
} from '@modelcontextprotocol/client';
import type { ContentPart, ModelMessage } from '../../models/models.api.js';
import type { ToolSampling } from '../../tools/tools.api.js';
import { base64Bytes, shownType } from './media-bytes.js';

const MAX_MESSAGES = 100;
const MAX_CHARACTERS = 400_000;
const MAX_PICTURES = 10;
/** 5 MiB in base64: the most that every provider takes. */
const MAX_PICTURE_BYTES = 3.75 * 1_048_576;
const MAX_STOPS = 4;
const MAX_STOP = 256;

/* Servers of the versions before 2026-07-28 ask; the newest version has no sampling. */
/* eslint-disable @typescript-eslint/no-deprecated */
export type SamplingParams = CreateMessageRequestParams;
export type SamplingResult = CreateMessageResult;
type Asked = SamplingMessage;
/* eslint-enable @typescript-eslint/no-deprecated */

/**
 * What a server asks the model, without known secrets (`hide`). Its preferences for models, and for parts of the
 * conversation, are ignored. Throws `ProtocolError` for what is never passed to the model: tools, sounds, too much.
 */
export function samplingOf(params: SamplingParams, hide: (text: string) => string): ToolSampling {
  const { systemPrompt: system = '', messages, maxTokens, temperature, stopSequences = [] } = params;
  const problem = contentProblem(params) ?? optionProblem(params);
  if (problem !== undefined) throw refused(problem);
  return {
    ...{
      system: hide(system),
      messages: messages.map((one) => toMessage(one, hide)),
      maxOutputTokens: maxTokens,
    },
    ...(temperature === undefined ? {} : { temperature }),
    ...(stopSequences.length === 0 ? {} : { stop: stopSequences }),
  };
}

function contentProblem({ systemPrompt = '', messages }: SamplingParams): string | undefined {
  const size = messages.reduce((sum, message) => sum + charactersOf(message), systemPrompt.length);
  const pictures = messages.flatMap(blocksOf).filter(({ type }) => type === 'image').length;
  const isCounted = messages.length > 0 && messages.length <= MAX_MESSAGES;
  if (!isCounted) return `there have to be 1 to ${MAX_MESSAGES} messages`;
  if (messages.at(-1)?.role !== 'user') return 'the last message has to be of the user';
  if (size > MAX_CHARACTERS) return `the messages have more than ${MAX_CHARACTERS} characters`;
  return pictures > MAX_PICTURES ? `there are more than ${MAX_PICTURES} pictures` : undefined;
}

function optionProblem(params: SamplingParams): string | undefined {
  const { tools = [], maxTokens, temperature = 0, stopSequences = [] } = params;
  const areStopsGood = stopSequences.every(({ length }) => length > 0 && length <= MAX_STOP);
  if (tools.length > 0) return 'it is given no tools';
  if (maxTokens < 1) return 'maxTokens has to be at least 1';
  if (stopSequences.length > MAX_STOPS || !areStopsGood)
    return `there may be ${MAX_STOPS} stop sequences of ${MAX_STOP} characters`;
  return temperature >= 0 && temperature <= 2 ? undefined : 'the temperature has to be from 0 to 2';
}

type Block = Extract<Asked['content'], readonly unknown[]>[number];

function blocksOf({ content }: Asked): readonly Block[] {
  return Array.isArray(content) ? content : [content];
}

function charactersOf(message: Asked): number {
  return blocksOf(message).reduce((sum, block) => sum + (block.type === 'text' ? block.text.length : 0), 0);
}

function toMessage(message: Asked, hide: (text: string) => string): ModelMessage {
  const parts = blocksOf(message).map((block) => partOf(block, hide));
  if (message.role === 'user') return { role: 'user', parts };
  const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  if (texts.length < parts.length) throw refused('its own messages have text only');
  return { role: 'assistant', text: texts.join('\n'), toolCalls: [] };
}

/** Types are recognised by the bytes: providers refuse a picture under a wrong type. */
function partOf(block: Block, hide: (text: string) => string): ContentPart {
  if (block.type === 'text') return { type: 'text', text: hide(block.text) };
  if (block.type !== 'image') throw refused('it is given texts and pictures only');
  const bytes = block.data.length > MAX_PICTURE_BYTES * 1.5 ? undefined : base64Bytes(block.data);
  const mimeType = bytes && shownType(bytes);
  if (bytes === undefined || bytes.length > MAX_PICTURE_BYTES || mimeType?.startsWith('image/') !== true)
    throw refused('a picture is none, or larger than 3.75 MiB');
  return { type: 'image', mimeType, data: bytes.toString('base64') };
}

function refused(problem: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, `The model cannot be asked this: ${problem}.`);
}
