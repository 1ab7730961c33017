import type { Page, Route } from 'playwright-core';
import { ALL } from './corpus.js';

const DATA = /\/(admin|api)\/v1\//;
/** The API's own words and numbers, which decide what a page offers. Changing them would hide parts of the page. */
const OWN_WORDS = new Set([
  ...[
    'status',
    'state',
    'level',
    'role',
    'type',
    'kind',
    'profile',
    'scopes',
    'transport',
    'result',
    'next_cursor',
    'revision',
  ],
]);
const TIME = /^\d{4}-\d\d-\d\d(T[\d:.]+Z)?$/;

/**
 * Adds the corpus to every text in every response to the page, and to keys that are not fixed names. This covers any
 * text, whoever wrote it.
 * @returns a function that says how many texts were changed so far
 */
export async function makeAnswersHostile(page: Page): Promise<() => number> {
  let changed = 0;
  const hostile = (value: unknown, name = ''): unknown => {
    if (Array.isArray(value)) return value.map((one) => hostile(one, name));
    if (typeof value === 'object' && value !== null) return hostileObject(value, name);
    if (typeof value !== 'string' || OWN_WORDS.has(name) || TIME.test(value)) return value;
    changed += 1;
    return `${value} ${ALL}`;
  };
  const hostileObject = (value: object, name: string): object => {
    const given = Object.entries(value).map(([key, one]) => [key, hostile(one, key)] as const);
    const isFree = ['metadata', 'arguments', 'details', 'definition', 'pending'].includes(name);
    return Object.fromEntries(isFree ? [...given, [ALL, ALL]] : given);
  };
  await page.route(DATA, async (route: Route) => {
    if (route.request().headers()['accept'] === 'text/event-stream') return route.continue();
    const answer = await route.fetch();
    const isJson = answer.headers()['content-type']?.includes('application/json') === true;
    if (!isJson) return route.fulfill({ response: answer });
    return route.fulfill({ response: answer, json: hostile(await answer.json()) });
  });
  return () => changed;
}
