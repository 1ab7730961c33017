/** A part of a running turn, as it is shown. */
export type LivePart =
  | { readonly kind: 'text'; readonly text: string }
  | {
      readonly kind: 'call';
      readonly id: string;
      readonly name: string;
      readonly arguments: unknown;
      readonly status: 'running' | 'asking' | 'allowed' | 'success' | 'error' | 'denied' | 'timeout';
      readonly approvalId?: string;
      readonly output?: string;
      readonly durationMs?: number;
    }
  | {
      readonly kind: 'question';
      readonly id: string;
      readonly tool: string;
      readonly message: string;
      readonly schema: unknown;
      readonly url: string | undefined;
      readonly status: string;
    };

export interface LiveTurn {
  readonly parts: readonly LivePart[];
  readonly error: string | undefined;
  /** Once the turn is over, the id of its answer in the history; empty when it ended without an answer. */
  readonly answerId: string | undefined;
}

export const NO_TURN: LiveTurn = { parts: [], error: undefined, answerId: undefined };

/** A frame of the session's WebSocket (docs/streaming.md). */
export interface Frame {
  readonly type: string;
  readonly event_id?: string;
  readonly message_id?: string;
  readonly id?: string;
  readonly name?: string;
  readonly arguments?: unknown;
  readonly content?: string;
  readonly approval_id?: string;
  readonly status?: string;
  readonly is_error?: boolean;
  readonly duration_ms?: number;
  readonly message?: string;
  readonly schema?: unknown;
  readonly url?: string | null;
  readonly error?: { readonly message?: string };
}

/** What is shown of the turn after these frames. What follows an end belongs to the next turn. */
export function withFrames(turn: LiveTurn, frames: readonly Frame[]): LiveTurn {
  return frames.reduce(withFrame, turn);
}

function withFrame(turn: LiveTurn, frame: Frame): LiveTurn {
  switch (frame.type) {
    case 'pong':
      return turn;
    case 'done':
      return { ...turn, error: undefined, answerId: frame.message_id ?? '' };
    case 'error': {
      const error = frame.error?.message ?? 'The turn failed.';
      return isEndOfTurn(frame) ? { ...turn, error, answerId: '' } : { ...turn, error };
    }
    case 'restarted':
      return NO_TURN;
    default:
      return { ...NO_TURN, parts: withPart(turn.answerId === undefined ? turn.parts : [], frame) };
  }
}

/** An error without a position answers a frame of this page; the turn continues. */
export function isEndOfTurn({ type, event_id }: Frame): boolean {
  return type === 'done' || (type === 'error' && event_id !== undefined);
}

function withPart(parts: readonly LivePart[], frame: Frame): readonly LivePart[] {
  switch (frame.type) {
    case 'token':
    case 'text':
      return withText(parts, frame.content ?? '');
    case 'tool_call':
      return [
        ...parts,
        {
          kind: 'call',
          id: frame.id ?? '',
          name: frame.name ?? '',
          arguments: frame.arguments,
          status: 'running',
        },
      ];
    case 'tool_approval':
      return changed(parts, frame, {
        status: approvalStatus(frame.status),
        approvalId: frame.approval_id ?? '',
      });
    case 'tool_question':
      return withQuestion(parts, frame);
    case 'tool_result':
      return changed(parts, frame, {
        status: frame.is_error === true ? 'error' : 'success',
        output: frame.content ?? '',
        durationMs: frame.duration_ms ?? 0,
      });
    default:
      return parts;
  }
}

function withText(parts: readonly LivePart[], text: string): readonly LivePart[] {
  const last = parts.at(-1);
  return last?.kind === 'text'
    ? [...parts.slice(0, -1), { kind: 'text', text: last.text + text }]
    : [...parts, { kind: 'text', text }];
}

/** Shows a question, or the outcome of a question that is shown. */
function withQuestion(parts: readonly LivePart[], frame: Frame): readonly LivePart[] {
  const { id = '', name = '', message = '', schema, url, status = 'pending' } = frame;
  const question: LivePart = {
    kind: 'question',
    id,
    tool: name,
    message,
    schema,
    url: url ?? undefined,
    status,
  };
  return parts.some((part) => part.kind === 'question' && part.id === id)
    ? parts.map((part) => (part.kind === 'question' && part.id === id ? { ...part, status } : part))
    : [...parts, question];
}

type Call = Extract<LivePart, { kind: 'call' }>;

function changed(parts: readonly LivePart[], { id }: Frame, change: Partial<Call>): readonly LivePart[] {
  return parts.map((part) => (part.kind === 'call' && part.id === id ? { ...part, ...change } : part));
}

function approvalStatus(status: string | undefined): Call['status'] {
  if (status === 'pending') return 'asking';
  return status === 'denied' || status === 'timeout' ? status : 'allowed';
}
