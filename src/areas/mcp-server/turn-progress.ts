import { type LiveEvent, numberOf, type TurnPosition } from '../turns/turns.api.js';

/** Tells the client how far a call is; the number only grows, and is the same on every replica. */
export type ReportProgress = (progress: number, message: string) => void;

/** No more often than this, in milliseconds, while text comes. */
const TEXT_MS = 500;
const MAX_SHOWN_CHARS = 200;

/** The events of a turn as progress of the call that waits for it. */
export function turnProgress(
  report: ReportProgress | undefined,
): (event: LiveEvent, position: TurnPosition) => void {
  let reportedAt = -TEXT_MS;
  let text = '';
  return (event, position) => {
    const tell = (message: string): void => report?.(numberOf(position), message);
    if (event.type === 'token') {
      text = `${text}${event.text}`.slice(-MAX_SHOWN_CHARS);
      if (performance.now() - reportedAt < TEXT_MS) return;
      reportedAt = performance.now();
      tell(text);
    } else if (event.type === 'tool_call') tell(`Calls ${event.name}`);
    else if (event.type === 'tool_result') tell(`${event.record.name}: ${event.record.status}`);
    else if (event.type === 'tool_approval' && event.approval.status === 'pending')
      tell(`Waits until somebody allows ${event.approval.tool}`);
  };
}
