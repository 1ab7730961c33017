import type { GatewayError } from '../../../common/errors/gateway-error.js';
import type { LiveEvent, Message } from '../../turns/turns.api.js';
import type { EventEncoder } from '../chat/chat-events.js';
import {
  callItems,
  messageItem,
  messageItemId,
  type OutputItem,
  type ResponseState,
  responseView,
  statusOf,
  textPart,
} from './response-view.js';

/** The events of a streamed response, numbered. */
export class ResponseEvents implements EventEncoder {
  private sequence = 0;
  private text = '';
  private readonly itemId: string;

  constructor(private readonly state: Omit<ResponseState, 'status'>) {
    this.itemId = messageItemId(state.id);
  }

  opening(): string {
    const response = responseView({ ...this.state, status: 'in_progress' });
    return this.event('response.created', { response }) + this.event('response.in_progress', { response });
  }

  frames(event: LiveEvent): string {
    switch (event.type) {
      case 'token':
        return this.token(event.text);
      case 'done':
        return this.done(event.message);
      case 'error':
        return this.failed(event.error);
      default:
        return '';
    }
  }

  private token(delta: string): string {
    const begin = this.text === '' ? this.beginMessage() : '';
    this.text += delta;
    return begin + this.event('response.output_text.delta', { ...this.part, delta, logprobs: [] });
  }

  private done(answer: Message): string {
    const state: ResponseState = { ...this.state, status: 'over', answer };
    const said = this.text === '' && answer.content !== '' ? this.token(answer.content) : '';
    const ended = this.text === '' ? '' : this.endMessage();
    const first = this.text === '' ? 0 : 1;
    const calls = callItems(this.state.id, this.state.echo, answer)
      .map((item, index) => this.call(item, first + index))
      .join('');
    return (
      said + ended + calls + this.event(`response.${statusOf(state)}`, { response: responseView(state) })
    );
  }

  private failed(error: GatewayError): string {
    const state: ResponseState = { ...this.state, status: 'over', error };
    return this.event('response.failed', { response: responseView(state) });
  }

  private get part() {
    return { item_id: this.itemId, output_index: 0, content_index: 0 };
  }

  private beginMessage(): string {
    const item = messageItem(this.itemId, [], 'in_progress');
    return (
      this.event('response.output_item.added', { output_index: 0, item }) +
      this.event('response.content_part.added', { ...this.part, part: textPart('') })
    );
  }

  private endMessage(): string {
    const part = textPart(this.text);
    const item = messageItem(this.itemId, [part], 'completed');
    return (
      this.event('response.output_text.done', { ...this.part, text: this.text, logprobs: [] }) +
      this.event('response.content_part.done', { ...this.part, part }) +
      this.event('response.output_item.done', { output_index: 0, item })
    );
  }

  private call(item: OutputItem, index: number): string {
    const of = { item_id: item.id, output_index: index };
    const { arguments: args, name } = item;
    return (
      this.event('response.output_item.added', {
        output_index: index,
        item: { ...item, status: 'in_progress', arguments: '' },
      }) +
      this.event('response.function_call_arguments.delta', { ...of, delta: args }) +
      this.event('response.function_call_arguments.done', { ...of, name, arguments: args }) +
      this.event('response.output_item.done', { output_index: index, item })
    );
  }

  private event(type: string, data: object): string {
    const frame = `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: this.sequence, ...data })}\n\n`;
    this.sequence += 1;
    return frame;
  }
}
