import { type LiveEvent, positionNumber, type TurnPosition } from '../turns/turns.api.js';

/** Who is told how far a call is. */
export interface ProgressListener {
  /** The number of the last progress that the client has; 0 for none. */
  readonly seen: number;
  /** The number only grows, and goes by what was said: it is the same on every replica that follows the turn. */
  readonly report: (progress: number, message: string) => void;
}

/** No more often than this, in milliseconds, while text comes. */
const TEXT_MS = 500;
const MAX_SHOWN_CHARS = 200;

/** The events of a turn as progress of the call that waits for it; what the client has seen is not told again. */
export function turnProgress(
  listener: ProgressListener | undefined,
): (event: LiveEvent, position: TurnPosition) => void {
  let reportedAt = -TEXT_MS;
  let text = '';
  return (event, position) => {
    if (event.type === 'token') text = `${text}${event.text}`.slice(-MAX_SHOWN_CHARS);
    else if (event.type === 'restarted') text = '';
    const progress = positionNumber(position);
    const message = messageOf(event, text);
    if (listener === undefined || message === undefined || progress <= listener.seen) return;
    if (event.type === 'token') {
      if (performance.now() - reportedAt < TEXT_MS) return;
      reportedAt = performance.now();
    }
    listener.report(progress, message);
  };
}

function messageOf(event: LiveEvent, text: string): string | undefined {
  if (event.type === 'token') return text;
  if (event.type === 'tool_call') return `Calls ${event.name}`;
  if (event.type === 'tool_result') return `${event.record.name}: ${event.record.status}`;
  if (event.type === 'tool_approval' && event.approval.status === 'pending')
    return `Waits until somebody allows ${event.approval.tool}`;
  return undefined;
}
