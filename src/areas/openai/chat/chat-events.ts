import type { GatewayError } from '../../../common/errors/gateway-error.js';
import { presentOpenAiError } from '../../../http/envelope/openai-error.js';
import { type LiveEvent, type Message, TurnHandedOver } from '../../turns/turns.api.js';
import { type ChatHead, chatUsage, finishOf, openCalls } from './chat-completion.js';

/** Turns what happens in a turn into the frames of an event stream. */
export interface EventEncoder {
  /** Sent before anything has happened. */
  opening(): string;
  /** Empty for events that are not shown. */
  frames(event: LiveEvent): string;
}

/** The chunks of a streamed chat completion. */
export class ChatEvents implements EventEncoder {
  private text = '';
  private isCut = false;

  constructor(
    private readonly head: ChatHead,
    private readonly withUsage: boolean,
  ) {}

  opening(): string {
    return this.delta({ role: 'assistant', content: '', refusal: null });
  }

  frames(event: LiveEvent): string {
    if (this.isCut) return '';
    switch (event.type) {
      case 'restarted':
        // What was sent cannot be taken back here.
        this.isCut = this.text !== '';
        return this.isCut ? failure(begunAgain()) : '';
      case 'token':
        this.text += event.text;
        return this.delta({ content: event.text });
      case 'done':
        return this.ending(event.message);
      case 'error':
        return failure(event.error);
      default:
        return '';
    }
  }

  private ending(answer: Message): string {
    const calls = openCalls(answer).map((call, index) => this.delta({ tool_calls: [{ index, ...call }] }));
    // Of a message that is shown again, the answer did not come piece by piece.
    const rest = this.text === '' && answer.content !== '' ? this.delta({ content: answer.content }) : '';
    const last = this.chunk([{ index: 0, delta: {}, logprobs: null, finish_reason: finishOf(answer) }]);
    const usage = this.withUsage ? this.chunk([], { usage: chatUsage(answer.usage) }) : '';
    return `${rest}${calls.join('')}${last}${usage}data: [DONE]\n\n`;
  }

  private delta(delta: object): string {
    return this.chunk([{ index: 0, delta, logprobs: null, finish_reason: null }]);
  }

  private chunk(choices: readonly object[], more: object = this.withUsage ? { usage: null } : {}): string {
    const { id, created, model } = this.head;
    const chunk = { id, object: 'chat.completion.chunk', created, model, choices, ...more };
    return `data: ${JSON.stringify(chunk)}\n\n`;
  }
}

function begunAgain(): GatewayError {
  return new TurnHandedOver(
    'The turn was begun again and says something else. Its answer will be in the history of its session.',
  );
}

function failure(error: GatewayError): string {
  return `data: ${JSON.stringify(presentOpenAiError(error))}\n\n`;
}
