import { USAGE_BY, type UsageDimension } from './usage-report.sql.js';

export const USAGE_DIMENSIONS = Object.keys(USAGE_BY) as readonly UsageDimension[];
/** How many days are shown by default. */
const USUAL_DAYS = 30;
const DAY_MS = 86_400_000;
const DAY = /^\d{4}-\d{2}-\d{2}$/;
const MOMENT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/;

/** The dimensions in a list with commas; undefined when one is unknown or named twice. */
export function dimensionsIn(text: string): readonly UsageDimension[] | undefined {
  const names = text.split(',').map((name) => name.trim());
  const known = names.filter((name): name is UsageDimension =>
    (USAGE_DIMENSIONS as readonly string[]).includes(name),
  );
  return known.length === names.length && new Set(names).size === names.length ? known : undefined;
}

/** The day in UTC of `2026-08-24` or of a moment with its zone; undefined for anything else. */
export function dayIn(text: string): string | undefined {
  if (!DAY.test(text) && !MOMENT.test(text)) return undefined;
  const time = Date.parse(text);
  const year = new Date(time).getUTCFullYear();
  // What has more digits is written otherwise, and there was no year 0.
  if (!(year >= 1 && year <= 9999)) return undefined;
  const day = dayOf(new Date(time));
  return MOMENT.test(text) || day === text ? day : undefined;
}

/** `2026-08-24`, in UTC. */
export function dayOf(time: Date): string {
  return time.toISOString().slice(0, 10);
}

/** The first day of reports by default, so that today is the thirtieth. */
export function usualSince(now = new Date()): string {
  return dayOf(new Date(now.getTime() - (USUAL_DAYS - 1) * DAY_MS));
}
