import { z } from 'zod';
import type { HeldBytes } from '../../../common/bytes/held-bytes.js';
import type { ModelToolCall, ToolChoice } from '../../models/models.api.js';
import type { MessageOptions } from '../../turns/turns.api.js';
import { UnsupportedParameter } from '../openai.errors.js';
import { CallArguments } from './call-arguments.js';
import { checkedBody, only } from './checked-body.js';
import { fileOf, imageAt, type SaidPart, soundOf } from './content.js';
import {
  ANY_OBJECT,
  callerTools,
  functionTool,
  jsonSchemaFormat,
  messageOptions,
  refuseOtherThanDefault,
  responseFormat,
  samplingOf,
  setByOperator,
  sharedParameters,
  text,
  toolName,
  verbosity,
} from './shared-parameters.js';

const MAX_MESSAGES = 4096;

const textPart = z.strictObject({ type: z.literal('text'), text: text() });
const texts = z.union([text(), z.array(textPart).max(256)]);
const userPart = z.union([
  textPart,
  z.strictObject({
    type: z.literal('image_url'),
    image_url: z.strictObject({ url: z.string().min(1), detail: z.literal('auto').optional() }),
  }),
  z.strictObject({
    type: z.literal('file'),
    file: z.strictObject({ file_data: z.string().min(1), filename: z.string().max(128).optional() }),
  }),
  z.strictObject({
    type: z.literal('input_audio'),
    input_audio: z.strictObject({ data: z.string().min(1), format: z.enum(['mp3', 'wav']) }),
  }),
]);
const toolCall = z.strictObject({
  id: z.string().min(1).max(128),
  type: z.literal('function'),
  function: z.strictObject({ name: toolName(), arguments: text() }),
  index: z.number().optional(),
});
/** Some clients repeat in a part of an answer what is beside it. */
const repeated = {
  role: z.literal('assistant').nullish(),
  tool_calls: z.array(toolCall).max(128).nullish(),
};
const answerPart = z.union([
  textPart.extend({ ...repeated, refusal: z.null().optional() }),
  z.strictObject({
    type: z.literal('refusal'),
    refusal: text(),
    ...repeated,
    content: z.null().optional(),
  }),
]);
const message = z.discriminatedUnion('role', [
  z.strictObject({ role: z.enum(['system', 'developer']), content: texts }),
  z.strictObject({ role: z.literal('user'), content: z.union([text(), z.array(userPart).min(1).max(256)]) }),
  z.strictObject({
    role: z.literal('assistant'),
    content: z.union([text(), z.array(answerPart).max(256)]).nullish(),
    refusal: text().nullish(),
    tool_calls: z.array(toolCall).max(128).nullish(),
  }),
  z.strictObject({
    role: z.literal('tool'),
    tool_call_id: z.string().min(1).max(128),
    content: texts,
    /** The name of the tool, which the call contains as well. */
    name: z.string().max(128).nullish(),
  }),
]);

const chatBody = z.strictObject({
  ...sharedParameters,
  messages: z.array(message).min(1).max(MAX_MESSAGES),
  tools: z
    .array(
      z.strictObject({
        type: z.literal('function', 'only "function" is supported here'),
        function: functionTool,
      }),
    )
    .optional(),
  tool_choice: z
    .union([
      z.enum(['none', 'auto', 'required']),
      z.strictObject({ type: z.literal('function'), function: z.strictObject({ name: toolName() }) }),
    ])
    .optional(),
  response_format: z
    .union([
      z.strictObject({ type: z.enum(['text', 'json_object']) }),
      z.strictObject({ type: z.literal('json_schema'), json_schema: jsonSchemaFormat }),
    ])
    .optional(),
  max_tokens: z.int().min(1).max(1_000_000).optional(),
  max_completion_tokens: z.int().min(1).max(1_000_000).optional(),
  stop: z.union([z.string().min(1).max(64), z.array(z.string().min(1).max(64)).max(4)]).optional(),
  n: z.number().optional(),
  stream_options: z
    .strictObject({ include_usage: z.boolean().optional(), include_obfuscation: z.literal(false).optional() })
    .optional(),
  metadata: z.strictObject({ session_id: z.string().min(1).max(128).optional() }).optional(),
  store: z.boolean().optional(),
  logprobs: z.boolean().optional(),
  frequency_penalty: z.number().optional(),
  presence_penalty: z.number().optional(),
  modalities: z.array(z.string()).max(4).optional(),
  verbosity,
  reasoning_effort: z.unknown().optional(),
});
type ChatBody = z.infer<typeof chatBody>;
type BodyMessage = ChatBody['messages'][number];

/** One message of the conversation, as the caller sends it. */
export type SaidMessage =
  | { readonly role: 'user'; readonly parts: readonly SaidPart[] }
  | { readonly role: 'assistant'; readonly text: string; readonly calls: readonly ModelToolCall[] }
  | { readonly role: 'tool'; readonly callId: string; readonly output: string };

/** A request for a chat completion, checked. */
export interface ChatRequest {
  readonly model: string;
  readonly user: string | undefined;
  /** Without system messages, which are in the options. */
  readonly messages: readonly SaidMessage[];
  readonly options: MessageOptions;
  readonly isStream: boolean;
  readonly withUsage: boolean;
  /** The name of the parameter that set the token limit. */
  readonly limitName: string;
  /** The session that it continues. */
  readonly sessionId: string | undefined;
  /** Counts what is fetched for it, beside its body. */
  readonly held?: HeldBytes | undefined;
}

/** Throws `InvalidParameter` and `UnsupportedParameter`. */
export function chatRequest(sent: unknown): ChatRequest {
  const body = checkedBody(chatBody, sent);
  refuseUnfollowed(body);
  refuseUnmadeCalls(body.messages);
  const { tools = [], response_format: format, stop } = body;
  const calls = new CallArguments();
  const limitName = body.max_completion_tokens === undefined ? 'max_tokens' : 'max_completion_tokens';
  const options = messageOptions({
    sampling: samplingOf(body, typeof stop === 'string' ? [stop] : stop, choiceOf(body)),
    maxOutputTokens: body[limitName],
    responseFormat:
      format?.type === 'json_schema'
        ? responseFormat(format.json_schema, 'response_format.json_schema.schema')
        : format?.type === 'json_object'
          ? ANY_OBJECT
          : undefined,
    instructions: body.messages.flatMap(systemText).join('\n\n'),
    callerTools: callerTools(
      tools.map((tool) => tool.function),
      (index) => `tools[${index}].function`,
    ),
  });
  return {
    model: body.model,
    user: body.user,
    messages: body.messages.flatMap((one, index) => said(one, index, calls)),
    options,
    isStream: body.stream === true,
    withUsage: body.stream_options?.include_usage === true,
    limitName,
    sessionId: body.metadata?.session_id,
  };
}

/** Parameters that are supported only with their default. */
function refuseUnfollowed(body: ChatBody): void {
  refuseOtherThanDefault(body);
  if (body.n !== undefined && body.n !== 1) throw only('n', '1');
  if (body.logprobs === true) throw only('logprobs', 'false');
  if ((body.frequency_penalty ?? 0) !== 0) throw only('frequency_penalty', '0');
  if ((body.presence_penalty ?? 0) !== 0) throw only('presence_penalty', '0');
  if (body.reasoning_effort !== undefined) throw setByOperator('reasoning_effort');
  if (body.modalities?.some((one) => one !== 'text')) throw only('modalities', '["text"]');
  if (body.store === true)
    throw new UnsupportedParameter('store', 'chat completions are not stored; leave it out');
}

/** Calls within a part are read where the message has them: calls that no message has would be lost. */
function refuseUnmadeCalls(messages: readonly BodyMessage[]): void {
  const answers = messages.map((one) => (one.role === 'assistant' ? one : undefined));
  const made = new Set(answers.flatMap((one) => one?.tool_calls ?? []).map(({ id }) => id));
  for (const [index, one] of answers.entries()) {
    const parts = typeof one?.content === 'string' ? [] : (one?.content ?? []);
    for (const [at, { tool_calls: calls }] of parts.entries())
      if (calls?.some(({ id }) => !made.has(id)) === true)
        throw new UnsupportedParameter(
          `messages[${index}].content[${at}].tool_calls`,
          'must repeat calls of a message',
        );
  }
}

function choiceOf({ tool_choice: choice }: ChatBody): ToolChoice | undefined {
  return typeof choice === 'object' ? { name: choice.function.name } : choice;
}

function systemText(one: BodyMessage): string[] {
  return one.role === 'system' || one.role === 'developer' ? [textsOf(one.content)] : [];
}

function said(one: BodyMessage, index: number, calls: CallArguments): SaidMessage[] {
  const path = `messages[${index}]`;
  switch (one.role) {
    case 'system':
    case 'developer':
      return [];
    case 'user':
      return [{ role: 'user', parts: partsOf(one.content, path) }];
    case 'assistant':
      return [
        {
          role: 'assistant',
          text: saidText(one),
          calls: (one.tool_calls ?? []).map((call, n) => callOf(call, `${path}.tool_calls[${n}]`, calls)),
        },
      ];
    case 'tool':
      return [{ role: 'tool', callId: one.tool_call_id, output: textsOf(one.content) }];
    default:
      return one satisfies never;
  }
}

function saidText({ content, refusal }: Extract<BodyMessage, { role: 'assistant' }>): string {
  if (typeof content === 'string') return content;
  const parts = (content ?? []).map((part) => (part.type === 'text' ? part.text : part.refusal));
  return [...parts, ...(typeof refusal === 'string' ? [refusal] : [])].join('');
}

function textsOf(content: z.infer<typeof texts>): string {
  return typeof content === 'string' ? content : content.map((part) => part.text).join('\n\n');
}

function partsOf(content: Extract<BodyMessage, { role: 'user' }>['content'], path: string): SaidPart[] {
  if (typeof content === 'string') return [{ text: content }];
  return content.map((part, index): SaidPart => {
    const at = `${path}.content[${index}]`;
    switch (part.type) {
      case 'text':
        return { text: part.text };
      case 'image_url':
        return imageAt(part.image_url.url, `${at}.image_url.url`);
      case 'file':
        return fileOf(part.file.file_data, part.file.filename, `${at}.file.file_data`);
      case 'input_audio':
        return soundOf(part.input_audio.data, part.input_audio.format, `${at}.input_audio.data`);
      default:
        return part satisfies never;
    }
  });
}

function callOf(
  { id, function: called }: z.infer<typeof toolCall>,
  path: string,
  calls: CallArguments,
): ModelToolCall {
  return calls.read(id, called.name, called.arguments, `${path}.function.arguments`);
}
