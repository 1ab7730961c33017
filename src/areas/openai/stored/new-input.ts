import { newId } from '../../../common/ids/typeid.js';
import type { ContentPart, ModelMessage } from '../../models/models.api.js';
import type { Session } from '../../sessions/sessions.api.js';
import type { CallerOutput, EarlierMessage, Message, NewAttachment } from '../../turns/turns.api.js';
import { InvalidParameter } from '../openai.errors.js';
import type { SaidMessage } from '../requests/chat-request.js';
import type { CompleteAttachments } from '../requests/content.js';
import { type Attached, refuseTooMuch } from '../requests/content.js';
import { conversationOf } from '../requests/conversation.js';

type ToolCall = Message['toolCalls'][number];

const INPUT = 'input';

/** What a turn of a session answers. */
export interface SaidNow {
  readonly content: string;
  readonly attachments: readonly Attached[];
}

/** The input of a response that begins a conversation. */
export interface WholeInput {
  readonly earlier: readonly EarlierMessage[];
  readonly now: SaidNow;
}

/** The input of a response that continues another one. */
export interface FurtherInput {
  readonly outputs: readonly CallerOutput[];
  readonly now: SaidNow;
}

/** The last messages of the user are the new input; the rest was said before. Throws `InvalidParameter`. */
export async function wholeInput(
  messages: readonly SaidMessage[],
  complete: CompleteAttachments,
): Promise<WholeInput> {
  const before = messages.findLastIndex(({ role }) => role !== 'user') + 1;
  const now = saidNow(messages.slice(before), INPUT);
  const isSaid = now.content !== '' || now.attachments.length > 0;
  if (before === 0 && isSaid) return { earlier: [], now };
  const said = messages.slice(0, before);
  // Checked like a whole conversation, although the message to answer is kept apart here.
  const whole = await conversationOf(isSaid ? [...said, STAND_IN] : said, complete, INPUT);
  return { earlier: earlierOf(isSaid ? whole.slice(0, -1) : whole), now };
}

const STAND_IN: SaidMessage = { role: 'user', parts: [{ text: '.' }] };

/**
 * Outputs of tools, and what the user says.
 * @param param the name of the parameter with the messages. Throws `InvalidParameter`
 */
export function furtherInput(messages: readonly SaidMessage[], param = INPUT): FurtherInput {
  const outputs = new Map<string, CallerOutput>();
  const problem = (message: string): Error => new InvalidParameter({ path: param, message });
  for (const one of messages) {
    if (one.role === 'assistant')
      throw problem('cannot repeat answers and calls together with previous_response_id: they are known');
    if (one.role !== 'tool') continue;
    if (outputs.has(one.callId)) throw problem(`has two outputs for the call "${one.callId.slice(0, 64)}"`);
    outputs.set(one.callId, { callId: one.callId, content: one.output });
  }
  const now = saidNow(messages, param);
  if (outputs.size === 0 && !saysMore(now))
    throw problem('must have a message of the user or the output of a tool');
  return { outputs: [...outputs.values()], now };
}

function saysMore({ content, attachments }: SaidNow): boolean {
  return content !== '' || attachments.length > 0;
}

/**
 * Outputs have to belong to calls that were made; without any other message they have to belong to all open calls.
 * Throws `InvalidParameter`.
 */
export function refuseOtherCalls(
  calls: { readonly asked: readonly string[]; readonly open: readonly string[] },
  { outputs, now }: FurtherInput,
  param = INPUT,
): void {
  const asked = new Set(calls.asked);
  const open = new Set(calls.open);
  for (const { callId } of outputs) {
    open.delete(callId);
    if (asked.has(callId)) continue;
    const message = `has an output for the call "${callId.slice(0, 64)}", which the answer before did not ask for`;
    throw new InvalidParameter({ path: param, message });
  }
  const [missing] = open;
  if (missing === undefined || saysMore(now)) return;
  throw new InvalidParameter({ path: param, message: `has no output for the call "${missing}"` });
}

/** Those of these outputs' calls that have no output yet. */
export function openAmong(
  calls: readonly Pick<ToolCall, 'id' | 'status'>[],
  outputs: readonly CallerOutput[],
): string[] {
  const given = new Set(outputs.map(({ callId }) => callId));
  return calls.flatMap(({ id, status }) => (status === 'pending' && given.has(id) ? [id] : []));
}

/**
 * A continued conversation keeps its agent, model and user.
 * @param whose of what, for the refusal
 */
export function refuseOtherParties(
  session: Pick<Session, 'agent' | 'model' | 'userId'>,
  named: { readonly agent: string; readonly model: string | null; readonly user: string | undefined },
  whose: string,
): void {
  if (named.agent !== session.agent || named.model !== session.model)
    throw new InvalidParameter({ path: 'model', message: `must be that of the ${whose}` });
  if (named.user !== undefined && named.user !== session.userId)
    throw new InvalidParameter({ path: 'user', message: `must be that of the ${whose}` });
}

function saidNow(messages: readonly SaidMessage[], param: string): SaidNow {
  const parts = messages.flatMap((one) => (one.role === 'user' ? one.parts : []));
  const texts = parts.flatMap((part) => ('text' in part && part.text !== '' ? [part.text] : []));
  const attachments = parts.flatMap((part) => ('attached' in part ? [part.attached] : []));
  refuseTooMuch(attachments, param);
  return { content: texts.join('\n'), attachments };
}

/** Puts outputs with their calls. */
function earlierOf(messages: readonly ModelMessage[]): EarlierMessage[] {
  return messages.flatMap((one, index): EarlierMessage[] => {
    if (one.role === 'tool') return [];
    if (one.role === 'user') {
      const texts = one.parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
      return [{ role: 'user', content: texts.join('\n'), attachments: one.parts.flatMap(attachmentOf) }];
    }
    const next = messages[index + 1];
    const results = new Map(
      next?.role === 'tool' ? next.results.map(({ callId, content }) => [callId, content]) : [],
    );
    const toolCalls = one.toolCalls.map(({ id, name, arguments: args }) => ({
      ...{ id, name, arguments: args, status: 'success' as const },
      output: results.get(id) ?? '',
      durationMs: 0,
    }));
    return [{ role: 'assistant', content: one.text, toolCalls }];
  });
}

function attachmentOf(part: ContentPart): NewAttachment[] {
  if (part.type === 'text') return [];
  const data = Buffer.from(part.data, 'base64');
  const { type, mimeType } = part;
  const name = part.type === 'file' ? part.name : null;
  return [{ id: newId('att'), type, name, mimeType, sizeBytes: data.length, data }];
}
