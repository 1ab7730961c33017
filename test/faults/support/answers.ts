import type { Answer } from '../../harness/http-caller.js';
import type { Profile } from './gateway-place.js';

interface ErrorBody {
  readonly error?: { readonly code?: unknown; readonly message?: unknown; readonly details?: unknown };
}

const EXPLAINED: readonly number[] = [502, 503, 504];
const KEYS: Readonly<Record<Profile, string>> = { a: 'code,message', b: 'code,message,details' };

/** What is wrong with a 5xx response: it must be 502, 503 or 504, in the envelope of its profile. */
export function wrongWith(profile: Profile, answer: Answer): string | undefined {
  const { status, text, headers } = answer;
  if (status < 500) return undefined;
  if (!EXPLAINED.includes(status)) return `an answer of ${status}, which nothing here explains: ${text}`;
  const { error } = (typeof answer.body === 'object' ? answer.body : {}) as ErrorBody;
  const isEnvelope =
    headers.get('content-type') === 'application/json; charset=utf-8' &&
    Object.keys(error ?? {}).join() === KEYS[profile] &&
    error?.code === 'internal_error' &&
    typeof error.message === 'string';
  return isEnvelope
    ? undefined
    : `an answer of ${status} that is not in Profile ${profile}'s envelope: ${text}`;
}

export function reasonOf(answer: Answer): string {
  const { error } = (typeof answer.body === 'object' ? answer.body : {}) as ErrorBody;
  return typeof error?.message === 'string' ? error.message : answer.text;
}
