import { chatCompletion } from '../chat/chat-completion.js';
import { ChatEvents } from '../chat/chat-events.js';
import type { ChatRequest } from '../requests/chat-request.js';
import type { ResponsesRequest } from '../requests/responses-request.js';
import { ResponseEvents } from '../responses/response-events.js';
import { responseIdOf, responseView } from '../responses/response-view.js';
import type { ConversationCall } from './conversation.handler.js';

/** POST /v1/chat/completions. */
export function chatCall(asked: ChatRequest): ConversationCall {
  const created = now();
  return {
    asked,
    param: 'messages',
    form: (turnId) => {
      const head = { id: turnId.replace('turn_', 'chatcmpl-'), created, model: asked.model };
      return {
        whole: (answer) => chatCompletion(head, answer),
        events: () => new ChatEvents(head, asked.withUsage),
      };
    },
  };
}

/** POST /v1/responses that is not stored. */
export function responseCall(asked: ResponsesRequest): ConversationCall {
  const createdAt = now();
  return {
    asked,
    param: 'input',
    form: (turnId) => {
      const state = { id: responseIdOf(turnId), createdAt, echo: asked.echo };
      return {
        whole: (answer) => responseView({ ...state, status: 'over', answer }),
        events: () => new ResponseEvents(state),
      };
    },
  };
}

function now(): number {
  return Math.floor(Date.now() / 1000);
}
