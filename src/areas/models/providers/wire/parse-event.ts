import type { Unchecked } from './unchecked.js';
import { WireFault } from './wire-fault.js';

/** The JSON object of an event. */
export function parseEvent<T extends object>(data: string): Unchecked<T> {
  const value = parse(data);
  if (typeof value !== 'object' || value === null) throw malformed();
  return value as Unchecked<T>;
}

function parse(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    throw malformed();
  }
}

const malformed = (): WireFault =>
  new WireFault({ kind: 'malformed', what: 'an event that is not a JSON object' });
