import { newId } from '../../../common/ids/typeid.js';
import type { ContentPart, ModelMessage } from '../../models/models.api.js';
import type {
  AttachmentFetcher,
  CallerOutput,
  EarlierMessage,
  NewAttachment,
} from '../../turns/turns.api.js';
import { InvalidParameter } from '../openai.errors.js';
import type { SaidMessage } from '../requests/chat-request.js';
import { type Attached, refuseTooMuch } from '../requests/content.js';
import { conversationOf } from '../requests/conversation.js';

const PARAM = 'input';

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

/** The input of a response that goes on with another one. */
export interface FurtherInput {
  readonly outputs: readonly CallerOutput[];
  readonly now: SaidNow;
}

/** What the last messages of the user say; the rest was said before. Throws `InvalidParameter`. */
export async function wholeInput(
  messages: readonly SaidMessage[],
  fetcher: AttachmentFetcher,
): Promise<WholeInput> {
  const before = messages.findLastIndex(({ role }) => role !== 'user') + 1;
  const now = saidNow(messages.slice(before));
  const isSaid = now.content !== '' || now.attachments.length > 0;
  if (before === 0 && isSaid) return { earlier: [], now };
  const said = messages.slice(0, before);
  // Its rules are those of a conversation that is answered: here the message that is answered stands apart.
  const whole = await conversationOf(isSaid ? [...said, STAND_IN] : said, fetcher, PARAM);
  return { earlier: earlierOf(isSaid ? whole.slice(0, -1) : whole), now };
}

const STAND_IN: SaidMessage = { role: 'user', parts: [{ text: '.' }] };

/** Outputs of tools, and what the user says. Throws `InvalidParameter`. */
export function furtherInput(messages: readonly SaidMessage[]): FurtherInput {
  const outputs = new Map<string, CallerOutput>();
  for (const one of messages) {
    if (one.role === 'assistant')
      throw problem('cannot repeat answers and calls together with previous_response_id: they are known');
    if (one.role !== 'tool') continue;
    if (outputs.has(one.callId)) throw problem(`has two outputs for the call "${one.callId.slice(0, 64)}"`);
    outputs.set(one.callId, { callId: one.callId, content: one.output });
  }
  const now = saidNow(messages);
  if (outputs.size === 0 && now.content === '' && now.attachments.length === 0)
    throw problem('must have a message of the user or the output of a tool');
  return { outputs: [...outputs.values()], now };
}

function saidNow(messages: readonly SaidMessage[]): SaidNow {
  const parts = messages.flatMap((one) => (one.role === 'user' ? one.parts : []));
  const texts = parts.flatMap((part) => ('text' in part && part.text !== '' ? [part.text] : []));
  const attachments = parts.flatMap((part) => ('attached' in part ? [part.attached] : []));
  refuseTooMuch(attachments);
  return { content: texts.join('\n'), attachments };
}

/** Outputs stand with the calls that they are of. */
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

function problem(message: string): InvalidParameter {
  return new InvalidParameter({ path: PARAM, message });
}
