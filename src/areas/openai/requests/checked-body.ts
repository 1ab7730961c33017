import type { z } from 'zod';
import { InvalidParameter, UnsupportedParameter } from '../openai.errors.js';

/** How deep a union of objects is searched for the one problem to report. */
const MAX_UNION_DEPTH = 4;

/**
 * A body, read by its schema. A null parameter counts as left out, as in OpenAI's own clients. Throws
 * `UnsupportedParameter` for a name that the schema does not have, and `InvalidParameter`; each names the first one.
 */
export function checkedBody<Body>(schema: z.ZodType<Body>, body: unknown): Body {
  const result = schema.safeParse(withoutNulls(body));
  if (result.success) return result.data;
  throw refusalOf(result.error.issues, []);
}

/** Refuses every value of a parameter that is supported only with its default. */
export function only(path: string, what: string): UnsupportedParameter {
  return new UnsupportedParameter(path, `only ${what} is supported here`);
}

function withoutNulls(body: unknown): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body;
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null));
}

function refusalOf(issues: readonly z.core.$ZodIssue[], before: readonly PropertyKey[], depth = 0): Error {
  const [first] = issues;
  if (first === undefined) return new InvalidParameter({ path: pathOf(before), message: 'is not valid' });
  const path = [...before, ...first.path];
  if (first.code === 'unrecognized_keys')
    return new UnsupportedParameter(pathOf([...path, first.keys[0] ?? '']));
  if (first.code === 'invalid_union' && depth < MAX_UNION_DEPTH) {
    const closest = first.errors.toSorted((one, other) => depthOf(other) - depthOf(one))[0];
    if (closest !== undefined && closest.length > 0) return refusalOf(closest, path, depth + 1);
  }
  return new InvalidParameter({ path: pathOf(path), message: plain(first) });
}

/** The variant that fits furthest is the one that was meant. */
function depthOf(issues: readonly z.core.$ZodIssue[]): number {
  const isOther = issues.some(
    ({ code, path: [name, more] }) =>
      code === 'invalid_value' && more === undefined && (name === 'type' || name === 'role'),
  );
  return isOther ? -1 : Math.max(0, ...issues.map(({ path }) => path.length));
}

/** As OpenAI writes it: `messages[0].content`. */
function pathOf(path: readonly PropertyKey[]): string {
  const text = path.reduce<string>(
    (sum, part) =>
      typeof part === 'number' ? `${sum}[${part}]` : `${sum}${sum === '' ? '' : '.'}${String(part)}`,
    '',
  );
  return text.length <= 128 ? text : `${text.slice(0, 125)}...`;
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

/** What is wrong with a value, in a sentence that begins with its name. */
function plain(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.message.endsWith('received undefined')
        ? 'is required'
        : `must be ${TYPES[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return `must be ${issue.values.length === 1 ? '' : 'one of '}${issue.values.map((value) => JSON.stringify(value)).join(', ')}`;
    case 'too_small':
      return `must ${sized(issue.origin, 'at least', Number(issue.minimum))}`;
    case 'too_big':
      return `must ${sized(issue.origin, 'at most', Number(issue.maximum))}`;
    default:
      return issue.message.charAt(0).toLowerCase() + issue.message.slice(1);
  }
}

function sized(origin: string, bound: string, size: number): string {
  const units: Readonly<Record<string, string>> = { string: 'character', array: 'item', object: 'key' };
  const unit = units[origin];
  if (unit === undefined) return `be ${bound} ${size}`;
  return `have ${bound} ${size} ${unit}${size === 1 ? '' : 's'}`;
}
