import type { IncomingHttpHeaders } from 'node:http';

/** Whether the caller prefers events to one answer: only who names the media type does. */
export function acceptsEvents({ accept }: IncomingHttpHeaders): boolean {
  if (accept === undefined) return false;
  return accept.split(',').some((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    return type === 'text/event-stream' && !parameters.some((one) => /^q=0(\.0*)?$/.test(one));
  });
}

/** RFC 7240, 4.1: the caller would rather look for the answer later than wait for it. */
export function wantsNoWaiting(headers: IncomingHttpHeaders): boolean {
  const { prefer } = headers;
  const preferences = (Array.isArray(prefer) ? prefer.join(',') : (prefer ?? '')).split(',');
  return preferences.some((preference) => preference.split(';')[0]?.trim().toLowerCase() === 'respond-async');
}
