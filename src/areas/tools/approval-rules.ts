import { posix } from 'node:path';
import { isAmong } from '../../common/text/name-pattern.js';
import type { ApprovalRule } from '../../platform/settings/sections/key-types.js';

interface Call {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

const FILE_URL = 'file:';
/** Parsers of URLs and paths drop some of these, wherever they stand. */
const CONTROL = /\p{Cc}/u;

/** Whether a rule of `tools.approval.ask` holds a call back. What cannot be compared is held back. */
export function asksFor(rule: ApprovalRule, call: Call): boolean {
  if (typeof rule === 'string') return isAmong(call.name, [rule]);
  if (!isAmong(call.name, [rule.tool])) return false;
  return Object.entries(rule.when).every(([name, pattern]) => {
    const readings = readingsOf(argumentOf(call, name));
    if (readings === undefined || readings.some((reading) => isUnder(reading, pattern))) return true;
    return pattern.startsWith('/') && !readings.every(isAbsolute);
  });
}

/** Whether a rule of `tools.approval.never` lets a call pass. What cannot be compared does not pass. */
export function isHarmless(rule: ApprovalRule, call: Call): boolean {
  if (typeof rule === 'string') return isAmong(call.name, [rule]);
  if (!isAmong(call.name, [rule.tool])) return false;
  return Object.entries(rule.when).every(([name, pattern]) => {
    const readings = readingsOf(argumentOf(call, name));
    return readings?.every((reading) => isAmong(reading, formsOf(pattern))) === true;
  });
}

function argumentOf({ arguments: args }: Call, name: string): unknown {
  return Object.hasOwn(args, name) ? args[name] : undefined;
}

/**
 * What a value may mean to a tool, as paths without `.`, `..` and repeated slashes: with backslashes as they are and as
 * slashes, for a file URL its path, and for another URL its standard form, also with its path decoded. Undefined for
 * anything but text, for text with control characters or a URL that cannot be decoded, and for a place that only the
 * tool knows: above its own folder, or in a home.
 */
function readingsOf(value: unknown): readonly string[] | undefined {
  if (typeof value !== 'string' || CONTROL.test(value)) return undefined;
  const texts = [value, value.replaceAll('\\', '/')];
  if (value.trimStart().toLowerCase().startsWith(FILE_URL)) {
    const path = pathOfUrl(value.trim());
    if (path === undefined) return undefined;
    texts.push(path);
  }
  const urls = urlReadingsOf(value);
  if (urls === undefined) return undefined;
  const readings = [...new Set([...texts.map(normalised), ...urls])];
  return readings.some((reading) => /^(\.\.(\/|$)|~)/.test(reading)) ? undefined : readings;
}

/** Undefined for a URL whose path cannot be decoded. */
function urlReadingsOf(text: string): readonly string[] | undefined {
  const url = hostedUrlOf(text);
  if (url === undefined) return [];
  const decoded = pathOfUrl(url.href);
  if (decoded === undefined) return undefined;
  return [url.pathname, decoded.replaceAll('\\', '/')].map((path) => standardForm(url, path));
}

/** A URL with a host, without its credentials. */
function hostedUrlOf(text: string): URL | undefined {
  const trimmed = text.trim();
  if (!URL.canParse(trimmed)) return undefined;
  const url = new URL(trimmed);
  if (url.host === '' || url.protocol === FILE_URL) return undefined;
  url.username = '';
  url.password = '';
  if (url.hostname.endsWith('.')) url.hostname = url.hostname.slice(0, -1);
  return url;
}

/** Dots in a query lead nowhere, so only what stands before it is normalised. */
function standardForm({ protocol, host, search }: URL, path: string): string {
  return `${normalised(`${protocol}//${host}${normalised(path)}`)}${search}`;
}

/** A pattern as written, and in the form in which URLs are compared. */
function formsOf(pattern: string): readonly string[] {
  const url = hostedUrlOf(pattern);
  return url === undefined ? [normalised(pattern)] : [normalised(pattern), standardForm(url, url.pathname)];
}

/** Whether a path means one place, whatever folder the tool works in. */
function isAbsolute(reading: string): boolean {
  return (
    reading.startsWith('/') ||
    reading.toLowerCase().startsWith(FILE_URL) ||
    hostedUrlOf(reading) !== undefined
  );
}

function pathOfUrl(text: string): string | undefined {
  try {
    return decodeURIComponent(new URL(text).pathname);
  } catch {
    return undefined;
  }
}

function normalised(text: string): string {
  if (text === '') return '';
  // POSIX leaves two leading slashes to the system; Linux reads them as one.
  return posix.normalize(text).replace(/^\/+/, '/');
}

/** The folder itself counts too: a call that names it reaches what is in it. */
function isUnder(reading: string, pattern: string): boolean {
  const forms = formsOf(pattern);
  return isAmong(reading, [
    ...forms,
    ...forms.filter((form) => form.endsWith('/*')).map((form) => form.slice(0, -2)),
  ]);
}
