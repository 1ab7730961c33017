import type { ContentPart, ModelMessage, ModelToolCall } from '../../models/models.api.js';
import { InvalidParameter } from '../openai.errors.js';
import type { SaidMessage } from './chat-request.js';
import { asParts, type CompleteAttachments } from './content.js';

type ToolMessage = Extract<ModelMessage, { role: 'tool' }>;

/**
 * A conversation as models read it: pictures and files are fetched, outputs of tools come together after their calls.
 * Throws `InvalidParameter` when a call has no output, an output no call, or nothing is left to answer.
 */
export async function conversationOf(
  messages: readonly SaidMessage[],
  complete: CompleteAttachments,
  param: string,
): Promise<ModelMessage[]> {
  const spoken = messages.filter((one) => one.role === 'user');
  const parts = await asParts(
    spoken.map((one) => one.parts),
    complete,
    param,
  );
  const partsOf = new Map(spoken.map((one, index) => [one, parts[index] ?? []]));
  const conversation = new Conversation(param);
  for (const one of messages) {
    if (one.role === 'user') conversation.user(partsOf.get(one) ?? []);
    else if (one.role === 'assistant') conversation.assistant(one.text, one.calls);
    else conversation.output(one.callId, one.output);
  }
  return conversation.whole();
}

/** Builds a conversation, one message after the other. */
class Conversation {
  private readonly messages: ModelMessage[] = [];
  private readonly open = new Set<string>();
  private answer: { readonly texts: string[]; readonly calls: ModelToolCall[] } | undefined;
  private results: ToolMessage['results'][number][] = [];

  constructor(private readonly param: string) {}

  user(parts: readonly ContentPart[]): void {
    this.close();
    if (parts.length > 0) this.messages.push({ role: 'user', parts });
  }

  /**
   * Some clients send the text and each call of one answer as separate messages: they are joined, once, when the answer
   * ends.
   */
  assistant(text: string, calls: readonly ModelToolCall[]): void {
    if (this.results.length > 0) this.close();
    this.answer ??= { texts: [], calls: [] };
    if (text !== '') this.answer.texts.push(text);
    for (const call of calls) {
      this.answer.calls.push(call);
      this.open.add(call.id);
    }
  }

  output(callId: string, content: string): void {
    if (!this.open.has(callId))
      throw this.problem(`has an output for the call "${callId.slice(0, 64)}", which was not made`);
    this.open.delete(callId);
    this.results.push({ callId, content, isError: false });
  }

  whole(): ModelMessage[] {
    this.close();
    const last = this.messages.at(-1);
    if (last === undefined || last.role === 'assistant')
      throw this.problem('must end with a message of the user or the output of a tool');
    return this.messages;
  }

  /** Every call has to be answered before the conversation continues. */
  private close(): void {
    const [missing] = this.open;
    if (missing !== undefined) throw this.problem(`has no output for the call "${missing.slice(0, 64)}"`);
    const { texts = [], calls = [] } = this.answer ?? {};
    if (texts.length > 0 || calls.length > 0)
      this.messages.push({ role: 'assistant', text: texts.join('\n\n'), toolCalls: calls });
    if (this.results.length > 0) this.messages.push({ role: 'tool', results: this.results });
    this.answer = undefined;
    this.results = [];
  }

  private problem(message: string): InvalidParameter {
    return new InvalidParameter({ path: this.param, message });
  }
}
