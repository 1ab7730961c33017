import type { IncomingHttpHeaders } from 'node:http';

/** Whether the caller prefers events to one answer: only who names the media type does. */
export function acceptsEvents({ accept }: IncomingHttpHeaders): boolean {
  if (accept === undefined) return false;
  return accept.split(',').some((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    return type === 'text/event-stream' && !parameters.some((one) => /^q=0(\.0*)?$/.test(one));
  });
}
