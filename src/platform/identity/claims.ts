import type { JsonObject } from './strict-json.js';

const MAX_TEXT_LENGTH = 256;

/**
 * The value of a claim. A dot leads into an object, and a name may contain dots itself: the longest name that exists
 * wins, so that `kubernetes.io.namespace` finds `namespace` in `kubernetes.io`. A claim whose name is a URL is found as
 * well.
 */
export function claimAt(claims: unknown, path: string): unknown {
  if (typeof claims !== 'object' || claims === null || Array.isArray(claims)) return undefined;
  const object = claims as JsonObject;
  if (Object.hasOwn(object, path)) return object[path];
  for (let dot = path.lastIndexOf('.'); dot > 0; dot = path.lastIndexOf('.', dot - 1)) {
    const name = path.slice(0, dot);
    if (!Object.hasOwn(object, name)) continue;
    const found = claimAt(object[name], path.slice(dot + 1));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Text that can name a person: not empty, at most 256 characters, without control characters. */
export function claimText(value: unknown): string | undefined {
  if (typeof value !== 'string' || value === '' || value.length > MAX_TEXT_LENGTH) return undefined;
  return /\p{C}/u.test(value) || value.trim() !== value ? undefined : value;
}

/** A list of texts unchanged; a single text as its words, as in the claims `scope` and `scp`. */
export function claimWords(value: unknown): readonly string[] {
  if (typeof value === 'string') return value.split(' ').filter((word) => word !== '');
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}
