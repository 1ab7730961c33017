import type { HeldBytes } from '../../../common/bytes/held-bytes.js';
import type { ToolChoice } from '../../models/models.api.js';
import type { MessageOptions } from '../../turns/turns.api.js';
import { InvalidParameter, UnsupportedParameter } from '../openai.errors.js';
import { CallArguments } from './call-arguments.js';
import type { SaidMessage } from './chat-request.js';
import { checkedBody } from './checked-body.js';
import { fileAt, fileOf, imageAt, type SaidPart } from './content.js';
import { type Echo, echoOf } from './response-echo.js';
import { type Item, type ResponsesBody, responsesBody, type UserPart } from './responses-body.js';
import {
  ANY_OBJECT,
  callerTools,
  messageOptions,
  refuseOtherThanDefault,
  responseFormat,
  samplingOf,
  setByOperator,
} from './shared-parameters.js';

/** An item of a stored response, named by its id. */
export interface ItemReference {
  readonly id: string;
  /** Where it is named. */
  readonly path: string;
}

/** A request for a response, checked. */
export interface ResponsesRequest {
  readonly model: string;
  readonly user: string | undefined;
  /** Without system messages, which are in the options. */
  readonly messages: readonly SaidMessage[];
  /** Which messages stand for items that are named by their ids. */
  readonly references: ReadonlyMap<SaidMessage, ItemReference>;
  readonly options: MessageOptions;
  readonly isStream: boolean;
  /** The name of the parameter that set the token limit. */
  readonly limitName: string;
  /** Whether it is stored, so that it can be found again; else its input is the whole conversation. */
  readonly isStored: boolean;
  /** Whether its caller does not wait for the answer. */
  readonly isBackground: boolean;
  readonly previousResponseId: string | undefined;
  /** What answers repeat of the request. */
  readonly echo: Echo;
  /** Counts what is fetched for it, beside its body. */
  readonly held?: HeldBytes | undefined;
}

/** Throws `InvalidParameter` and `UnsupportedParameter`. */
export function responsesRequest(sent: unknown): ResponsesRequest {
  const body = checkedBody(responsesBody, sent);
  refuseOtherThanDefault(body);
  refuseUnfollowed(body);
  const items: readonly Item[] =
    typeof body.input === 'string' ? [{ role: 'user', content: body.input }] : body.input;
  const { tools = [], text: output } = body;
  const calls = new CallArguments();
  const references = new Map<SaidMessage, ItemReference>();
  const options = messageOptions({
    sampling: samplingOf(body, undefined, choiceOf(body)),
    maxOutputTokens: body.max_output_tokens,
    responseFormat: formatOf(output?.format),
    instructions: [body.instructions ?? '', ...items.flatMap(systemText)].filter(Boolean).join('\n\n'),
    callerTools: callerTools(tools, (index) => `tools[${index}]`),
  });
  return {
    model: body.model,
    user: body.user,
    messages: items.flatMap((one, index) => {
      const path = `input[${index}]`;
      const messages = said(one, path, calls);
      if ('type' in one && one.type === 'item_reference')
        for (const message of messages) references.set(message, { id: one.id, path });
      return messages;
    }),
    references,
    options,
    isStream: body.stream === true,
    isStored: body.store !== false,
    isBackground: body.background === true,
    previousResponseId: body.previous_response_id,
    limitName: 'max_output_tokens',
    echo: echoOf(body),
  };
}

function refuseUnfollowed(body: ResponsesBody): void {
  if (Object.values(body.reasoning ?? {}).some((value) => value !== null && value !== undefined))
    throw setByOperator('reasoning');
  if (body.store !== false) return;
  const index = typeof body.input === 'string' ? -1 : body.input.findIndex(isReference);
  if (index !== -1)
    throw new UnsupportedParameter(
      `input[${index}]`,
      'names a stored item; send it whole, or leave out "store": false',
    );
  if (body.previous_response_id !== undefined)
    throw new UnsupportedParameter(
      'previous_response_id',
      'goes on with stored responses only; leave out "store": false, or send the whole conversation as input',
    );
  if (body.background === true)
    throw new UnsupportedParameter('background', 'is for stored responses only; leave out "store": false');
}

function isReference(one: Item): boolean {
  return 'type' in one && one.type === 'item_reference';
}

function choiceOf({ tool_choice: choice }: ResponsesBody): ToolChoice | undefined {
  return typeof choice === 'object' ? { name: choice.name } : choice;
}

function formatOf(format: NonNullable<ResponsesBody['text']>['format']) {
  if (format?.type === 'json_object') return ANY_OBJECT;
  return format?.type === 'json_schema' ? responseFormat(format, 'text.format.schema') : undefined;
}

function systemText(one: Item): string[] {
  if (!('role' in one) || (one.role !== 'system' && one.role !== 'developer')) return [];
  return [textsOf(one.content)];
}

function textsOf(content: string | readonly UserPart[]): string {
  if (typeof content === 'string') return content;
  return content.flatMap((part) => (part.type === 'input_text' ? [part.text] : [])).join('\n\n');
}

function said(one: Item, path: string, calls: CallArguments): SaidMessage[] {
  if ('role' in one) return messageOf(one, path);
  switch (one.type) {
    case 'function_call':
      return [
        {
          role: 'assistant',
          text: '',
          calls: [calls.read(one.call_id, one.name, one.arguments, `${path}.arguments`)],
        },
      ];
    case 'function_call_output':
      return [{ role: 'tool', callId: one.call_id, output: textsOf(one.output) }];
    case 'item_reference':
      return [{ role: 'assistant', text: '', calls: [] }];
    default:
      return one satisfies never;
  }
}

function messageOf(one: Extract<Item, { role: string }>, path: string): SaidMessage[] {
  if (one.role === 'user') return [{ role: 'user', parts: partsOf(one.content, path) }];
  if (one.role !== 'assistant') return [];
  const { content } = one;
  const whole =
    typeof content === 'string'
      ? content
      : content.map((part) => (part.type === 'refusal' ? part.refusal : part.text)).join('');
  return [{ role: 'assistant', text: whole, calls: [] }];
}

function partsOf(content: string | readonly UserPart[], path: string): SaidPart[] {
  if (typeof content === 'string') return [{ text: content }];
  return content.map((part, index): SaidPart => {
    const at = `${path}.content[${index}]`;
    if (part.type === 'input_text') return { text: part.text };
    if (part.type === 'input_image') return imageAt(part.image_url, `${at}.image_url`);
    if (typeof part.file_data === 'string')
      return fileOf(part.file_data, part.filename ?? undefined, `${at}.file_data`);
    if (typeof part.file_url === 'string') return fileAt(part.file_url, `${at}.file_url`);
    throw new InvalidParameter({ path: at, message: 'must have file_data or file_url' });
  });
}
