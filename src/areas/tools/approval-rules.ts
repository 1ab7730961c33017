import { posix } from 'node:path';
import { isAmong } from '../../common/text/name-pattern.js';
import type { ApprovalRule } from '../../platform/settings/sections/key-types.js';

interface Call {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

const FILE_URL = 'file:';

/** Whether a rule of `tools.approval.ask` holds a call back. What cannot be compared is held back. */
export function asksFor(rule: ApprovalRule, call: Call): boolean {
  if (typeof rule === 'string') return isAmong(call.name, [rule]);
  if (!isAmong(call.name, [rule.tool])) return false;
  return Object.entries(rule.when).every(([name, pattern]) => {
    const readings = readingsOf(argumentOf(call, name));
    return readings === undefined || readings.some((reading) => isUnder(reading, pattern));
  });
}

/** Whether a rule of `tools.approval.never` lets a call pass. What cannot be compared does not pass. */
export function isHarmless(rule: ApprovalRule, call: Call): boolean {
  if (typeof rule === 'string') return isAmong(call.name, [rule]);
  if (!isAmong(call.name, [rule.tool])) return false;
  return Object.entries(rule.when).every(([name, pattern]) => {
    const readings = readingsOf(argumentOf(call, name));
    return readings?.every((reading) => isAmong(reading, [normalised(pattern)])) === true;
  });
}

function argumentOf({ arguments: args }: Call, name: string): unknown {
  return Object.hasOwn(args, name) ? args[name] : undefined;
}

/**
 * What a value may mean to a tool, as paths without `.`, `..` and repeated slashes: with backslashes as they are and as slashes, and of
 * a file URL the path. Undefined for what is no text, and for a place that only the tool knows: above its own folder, or in a home.
 */
function readingsOf(value: unknown): readonly string[] | undefined {
  if (typeof value !== 'string') return undefined;
  const texts = [value, value.replaceAll('\\', '/')];
  if (value.trimStart().toLowerCase().startsWith(FILE_URL)) {
    const path = pathOfUrl(value.trim());
    if (path === undefined) return undefined;
    texts.push(path);
  }
  const readings = [...new Set(texts.map(normalised))];
  return readings.some((reading) => /^(\.\.(\/|$)|~)/.test(reading)) ? undefined : readings;
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

/** Also the folder itself: whoever names it reaches what lies in it. */
function isUnder(reading: string, pattern: string): boolean {
  const plain = normalised(pattern);
  return isAmong(reading, plain.endsWith('/*') ? [plain, plain.slice(0, -2)] : [plain]);
}
