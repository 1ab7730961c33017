import type { LiveEvent } from '../live-event.js';

/** Events as they are written for other replicas: everything but a turn's end, which is in the history. */
export function writtenEvents(events: readonly LiveEvent[]): string {
  return JSON.stringify(events);
}

export function readEvents(text: string): LiveEvent[] {
  return (JSON.parse(text) as LiveEvent[]).map((event) => {
    if (event.type === 'tool_approval')
      return { ...event, approval: { ...event.approval, expiresAt: new Date(event.approval.expiresAt) } };
    if (event.type === 'tool_question')
      return { ...event, question: { ...event.question, expiresAt: new Date(event.question.expiresAt) } };
    return event;
  });
}
