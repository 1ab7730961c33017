import { presentError } from '../../../http/envelope/error-envelope.js';
import type { ProfileId } from '../../../http/profiles/profile.js';
import type { LiveEvent } from '../../turns/turns.api.js';
import { presentEnding, presentToolCall } from './message.views.js';
import type { TurnEventView } from './turn-events.views.js';

/** What an event carries, the same over SSE and WebSocket. Only errors differ between the profiles. */
export function presentEvent(event: LiveEvent, profile: ProfileId): TurnEventView {
  switch (event.type) {
    case 'token':
      return { content: event.text };
    case 'tool_call':
      return { id: event.id, name: event.name, arguments: event.arguments };
    case 'tool_approval': {
      const { approvalId, callId, tool, status, expiresAt } = event.approval;
      return { id: callId, name: tool, approval_id: approvalId, status, expires_at: expiresAt.toISOString() };
    }
    case 'tool_result': {
      const { id, name, output, status, durationMs } = event.record;
      return { id, name, content: output, is_error: status !== 'success', duration_ms: durationMs };
    }
    case 'done': {
      const { id, content, tokensUsed, model, toolCalls } = event.message;
      return {
        message_id: id,
        content,
        tokens_used: tokensUsed,
        model,
        tool_calls: toolCalls.map(presentToolCall),
        ...presentEnding(event.message),
      };
    }
    case 'error':
      return presentError(profile, event.error);
    default:
      return event satisfies never;
  }
}
