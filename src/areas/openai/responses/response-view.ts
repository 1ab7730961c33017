import { type GatewayError, storedError } from '../../../common/errors/gateway-error.js';
import type { ModelUsage } from '../../models/models.api.js';
import type { Message } from '../../turns/turns.api.js';
import type { Echo } from '../requests/response-echo.js';

type ToolCall = Message['toolCalls'][number];

export type ResponseStatus = 'queued' | 'in_progress' | 'completed' | 'incomplete' | 'failed' | 'cancelled';

/** What is known about a response. */
export interface ResponseState {
  /** `resp_…`. */
  readonly id: string;
  /** In Unix seconds. */
  readonly createdAt: number;
  readonly echo: Echo;
  readonly status: 'queued' | 'in_progress' | 'over';
  /** Whether it was cancelled. */
  readonly isCancelled?: boolean;
  readonly answer?: Message | undefined;
  readonly error?: GatewayError | undefined;
}

export type OutputItem = Readonly<Record<string, unknown>> & { readonly id: string; readonly type: string };

const RESPONSE = 'resp_';
const TURN = 'turn_';

/** A response has the id of its turn, with another prefix. */
export function responseIdOf(turnId: string): string {
  return RESPONSE + turnId.slice(TURN.length);
}

export function turnIdOf(responseId: string): string {
  return responseId.startsWith(RESPONSE) ? TURN + responseId.slice(RESPONSE.length) : '';
}

/** Ids of items are derived from the id of their response. */
export function messageItemId(responseId: string): string {
  return `msg_${responseId.slice(RESPONSE.length)}`;
}

export function messageItem(id: string, content: readonly object[], status: string): OutputItem {
  return { id, type: 'message', status, role: 'assistant', content };
}

export function textPart(text: string): object {
  return { type: 'output_text', text, annotations: [], logprobs: [] };
}

/** Calls that the client makes, by the names of its tools; the gateway's own are not shown. */
export function callItems(
  id: string,
  echo: Pick<Echo, 'tools'>,
  { toolCalls }: Pick<Message, 'toolCalls'>,
): OutputItem[] {
  const names = new Set(echo.tools.map((tool) => (tool as { name?: string }).name));
  return toolCalls
    .filter(({ name }) => names.has(name))
    .map((call, index) => callItem(id.slice(RESPONSE.length), index, call));
}

/** @param body the part that the ids of all items of its answer share */
export function callItem(
  body: string,
  index: number,
  { id: callId, name, arguments: args }: Pick<ToolCall, 'id' | 'name' | 'arguments'>,
): OutputItem {
  return {
    id: `fc_${body}_${index}`,
    type: 'function_call',
    status: 'completed',
    call_id: callId,
    name,
    arguments: JSON.stringify(args),
  };
}

function outputItems({ id, echo, answer, status: phase }: ResponseState): OutputItem[] {
  if (answer === undefined || phase !== 'over') return [];
  const part =
    answer.finishReason === 'refusal'
      ? { type: 'refusal', refusal: answer.content }
      : textPart(answer.content);
  const status = answer.incomplete === null ? 'completed' : 'incomplete';
  const said = answer.content === '' ? [] : [messageItem(messageItemId(id), [part], status)];
  return [...said, ...callItems(id, echo, answer)];
}

/** A response in the form of OpenAI's API. */
export function responseView(state: ResponseState): object {
  const { id, createdAt, echo, error } = state;
  const status = statusOf(state);
  return {
    id,
    object: 'response',
    created_at: createdAt,
    status,
    parallel_tool_calls: true,
    ...echo,
    error: (status === 'failed' || status === 'cancelled') && error !== undefined ? errorOf(error) : null,
    incomplete_details: status === 'incomplete' ? { reason: incompleteReason(state) } : null,
    output: outputItems(state),
    reasoning: { effort: null, summary: null },
    service_tier: 'default',
    truncation: 'auto',
    usage: state.status === 'over' ? usageOf(state.answer?.usage) : null,
  };
}

export function statusOf({ status, isCancelled, answer, error }: ResponseState): ResponseStatus {
  if (status !== 'over') return status;
  if (isCancelled === true) return 'cancelled';
  if (error !== undefined || answer === undefined) return 'failed';
  return answer.finishReason === 'length' || answer.finishReason === 'content_filter'
    ? 'incomplete'
    : 'completed';
}

function incompleteReason({ answer }: ResponseState): string {
  return answer?.finishReason === 'content_filter' ? 'content_filter' : 'max_output_tokens';
}

function errorOf(error: GatewayError): object {
  const { message, details, status } = storedError(error);
  const code = status === 429 ? 'rate_limit_exceeded' : (details?.reason ?? 'server_error');
  return { code, message };
}

function usageOf(usage: ModelUsage = { input: 0, output: 0 }): object {
  const { input, output, cachedInput = 0, reasoning = 0 } = usage;
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cachedInput },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: input + output,
  };
}
