import type { GatewayError } from '../../../common/errors/gateway-error.js';
import { type LiveEvent, type Message, positionInAttempt, type TurnPosition } from '../../turns/turns.api.js';
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

/**
 * The number of an event says where in the turn it is, so that any replica can continue after any event: `created` is 0
 * and `in_progress` 1, 2 and 3 begin the message, and a delta that ends with the n-th character has 3 + n. Each attempt
 * at the turn begins at a multiple of this.
 */
const PER_ATTEMPT = 10_000_000;
const BEFORE_TEXT = 3;

/** Why a cancelled turn is over. */
const CANCELLED: ReadonlySet<string> = new Set(['turn_cancelled', 'token_revoked', 'session_ended']);

/** Where a stream continues. */
export interface StreamPlace {
  /** Nothing up to this number is shown; -1 for a whole stream. */
  readonly after: number;
  readonly attempt: number;
  /** Characters of text that were shown. */
  readonly chars: number;
}

/** @param after the number of the last event that was seen; -1 for none */
export function placeAfter(after: number): StreamPlace {
  const within = after < 0 ? 0 : after % PER_ATTEMPT;
  return {
    after,
    attempt: Math.floor(Math.max(0, after) / PER_ATTEMPT),
    chars: Math.max(0, within - BEFORE_TEXT),
  };
}

/** The same position in the record of a turn. */
export function positionAt({ attempt, chars }: StreamPlace): TurnPosition {
  return positionInAttempt(attempt, chars);
}

/** The events of a streamed response, numbered in rising order. */
export class ResponseEvents implements EventEncoder {
  private attempt: number;
  private chars: number;
  private itemId: string;
  private index = 0;
  private hasBegun: boolean;
  /** The text of the message that is shown; undefined when this stream has not shown its beginning. */
  private shown: string | undefined;
  /** What a new attempt still has to repeat of it. */
  private toRepeat = '';
  private lastNumber: number;

  constructor(
    private readonly state: Omit<ResponseState, 'status'>,
    private readonly place: StreamPlace = placeAfter(-1),
  ) {
    this.itemId = messageItemId(state.id);
    this.attempt = place.attempt;
    this.chars = place.chars;
    this.hasBegun = place.chars > 0;
    this.shown = this.hasBegun ? undefined : '';
    this.lastNumber = this.hasBegun ? place.after : -1;
  }

  opening(): string {
    if (this.hasBegun) return '';
    const response = responseView({
      ...this.state,
      answer: undefined,
      error: undefined,
      status: 'in_progress',
    });
    return (
      this.event('response.created', { response }, 0) + this.event('response.in_progress', { response }, 1)
    );
  }

  frames(event: LiveEvent): string {
    switch (event.type) {
      case 'token':
        return this.token(event.text);
      case 'restarted':
        this.attempt = Math.max(this.attempt, event.attempt);
        this.chars = 0;
        this.toRepeat = this.shown ?? '';
        return this.shown === undefined ? this.otherMessage('') : '';
      case 'done':
        return this.done(event.message);
      case 'error':
        return this.failed(event.error);
      default:
        return '';
    }
  }

  private token(text: string): string {
    if (this.toRepeat === '') return this.said(text);
    if (this.toRepeat.startsWith(text)) {
      this.toRepeat = this.toRepeat.slice(text.length);
      this.chars += text.length;
      return '';
    }
    if (text.startsWith(this.toRepeat)) {
      const fresh = text.slice(this.toRepeat.length);
      this.chars += this.toRepeat.length;
      this.toRepeat = '';
      return this.said(fresh);
    }
    return this.otherMessage(this.repeated() + text);
  }

  private said(delta: string): string {
    const begin = this.hasBegun ? '' : this.beginMessage();
    if (this.shown !== undefined) this.shown += delta;
    this.chars += delta.length;
    const number = this.numberOfText(this.chars);
    return begin + this.event('response.output_text.delta', { ...this.part, delta, logprobs: [] }, number);
  }

  /** When a new attempt says something else than the one before, the earlier message stays as far as it came. */
  private otherMessage(text: string): string {
    const { itemId, index } = this;
    const item = messageItem(itemId, [textPart(this.shown ?? '')], 'incomplete');
    const ended = this.hasBegun ? this.event('response.output_item.done', { output_index: index, item }) : '';
    this.index += this.hasBegun ? 1 : 0;
    this.itemId = `${messageItemId(this.state.id)}_${this.attempt}`;
    this.chars = 0;
    this.hasBegun = false;
    this.shown = '';
    this.toRepeat = '';
    return ended + (text === '' ? '' : this.said(text));
  }

  private repeated(): string {
    const shown = this.shown ?? '';
    return shown.slice(0, shown.length - this.toRepeat.length);
  }

  private done(answer: Message): string {
    const state: ResponseState = { ...this.state, status: 'over', answer };
    const { content } = answer;
    if (this.shown === undefined) this.standBehind(content);
    const isOther = this.shown !== undefined && this.shown !== '' && this.shown !== content;
    const isSilent = !this.hasBegun && content !== '';
    const other = isOther ? this.otherMessage(content) : '';
    const said = isSilent && !isOther ? this.said(content) : '';
    this.lastNumber = Math.max(this.lastNumber, this.numberOfText(content.length));
    const ended = this.hasBegun ? this.endMessage(content) : '';
    const first = this.hasBegun ? this.index + 1 : this.index;
    const calls = callItems(this.state.id, this.state.echo, answer)
      .map((item, index) => this.call(item, first + index))
      .join('');
    const last = this.event(`response.${statusOf(state)}`, { response: responseView(state) });
    return other + said + ended + calls + last;
  }

  /**
   * What a position after some text does not tell: whether there is a message at all. Later events have the numbers
   * that they had in the first stream, so that events that were seen are left out.
   */
  private standBehind(content: string): void {
    this.hasBegun = content !== '';
    this.lastNumber = this.numberOfText(content.length);
  }

  private failed(error: GatewayError): string {
    const isCancelled = CANCELLED.has(error.details?.reason ?? '');
    const state: ResponseState = { ...this.state, status: 'over', error, isCancelled };
    return this.event('response.failed', { response: responseView(state) });
  }

  private numberOfText(chars: number): number {
    return this.attempt * PER_ATTEMPT + BEFORE_TEXT + chars;
  }

  private get part() {
    return { item_id: this.itemId, output_index: this.index, content_index: 0 };
  }

  private beginMessage(): string {
    this.hasBegun = true;
    const item = messageItem(this.itemId, [], 'in_progress');
    const first = this.attempt * PER_ATTEMPT + 2;
    return (
      this.event('response.output_item.added', { output_index: this.index, item }, first) +
      this.event('response.content_part.added', { ...this.part, part: textPart('') }, first + 1)
    );
  }

  private endMessage(text: string): string {
    const part = textPart(text);
    const item = messageItem(this.itemId, [part], 'completed');
    return (
      this.event('response.output_text.done', { ...this.part, text, logprobs: [] }) +
      this.event('response.content_part.done', { ...this.part, part }) +
      this.event('response.output_item.done', { output_index: this.index, item })
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

  /** Empty for events that were seen before. Without a position it follows the last one. */
  private event(type: string, data: object, place = 0): string {
    const number = Math.max(place, this.lastNumber + 1);
    this.lastNumber = number;
    if (number <= this.place.after) return '';
    return `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: number, ...data })}\n\n`;
  }
}
