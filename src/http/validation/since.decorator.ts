import { applyDecorators } from '@nestjs/common';
import { ApiPropertyOptional } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { ValidateBy } from 'class-validator';

/** A query's `since`, as the moment it names; a duration counts back from when the request came. */
export const Since = (fallback: string) =>
  applyDecorators(
    ApiPropertyOptional({
      type: 'string',
      example: '30m',
      description: `ISO 8601 with any offset (a + written as %2B), or a duration such as 30m; ${fallback}`,
    }),
    Transform(({ value }: { value: unknown }) =>
      typeof value === 'string' ? (parseSince(value, new Date()) ?? value) : value,
    ),
    ValidateBy({
      name: 'since',
      validator: {
        validate: (value: unknown) => value instanceof Date,
        defaultMessage: () =>
          'must be ISO 8601 such as 2026-01-31T12:00:00Z (a + is written as %2B), or a duration such as 30m',
      },
    }),
  );

const DURATION = /^(\d+)([smhd])$/;
const UNIT_MS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const ISO_8601 =
  /^(\d{4})-(\d{2})-(\d{2})(?:T(\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?(Z|[+-]\d{2}(?::?\d{2})?)?)?$/;

/**
 * The moment that a query names: an ISO 8601 date or time (UTC without an offset), or a duration before `now` such as
 * `30m`. Moments before 1970 count as 1970. `undefined` for anything else (docs/specification/silences.md, Logs).
 */
export function parseSince(text: string, now: Date): Date | undefined {
  const duration = DURATION.exec(text);
  const ms = duration === null ? isoMs(text) : now.getTime() - durationMs(duration);
  return ms === undefined ? undefined : new Date(Math.max(0, ms));
}

function durationMs([, count, unit]: RegExpExecArray): number {
  return Number(count) * UNIT_MS[unit as keyof typeof UNIT_MS];
}

function isoMs(text: string): number | undefined {
  const parts = ISO_8601.exec(text);
  if (parts === null) return undefined;
  const [, year, month, day, hour = '00', minute = '00', second = '00', fraction = '', offset = 'Z'] = parts;
  const millis = fraction.slice(0, 3).padEnd(3, '0');
  const local = `${year}-${month}-${day}T${hour}:${minute}:${second}.${millis}Z`;
  const ms = Date.parse(local);
  // A day or an hour that does not exist is either refused or moved to the next one.
  if (Number.isNaN(ms) || new Date(ms).toISOString() !== local) return undefined;
  const offsetMs = offsetOf(offset);
  return offsetMs === undefined ? undefined : ms - offsetMs;
}

function offsetOf(offset: string): number | undefined {
  if (offset === 'Z') return 0;
  const hours = Number(offset.slice(1, 3));
  const minutes = Number(offset.slice(3).replace(':', '') || '0');
  if (hours > 23 || minutes > 59) return undefined;
  return (offset.startsWith('-') ? -1 : 1) * (hours * 60 + minutes) * 60_000;
}
