import { isIP } from 'node:net';
import { z } from 'zod';
import { keyMarks } from '../key-marks.js';

/** A whole number from `min` to `max`, both included. */
export const integer = (min: number, max: number) => z.int().min(min).max(max);

/** A TCP port that is bound at start; each replica may name its own. */
export const port = (fallback: number) =>
  integer(0, 65_535).default(fallback).register(keyMarks, { restart: true, perReplica: true });

/** A duration in milliseconds, from 1 to `max` (default: an hour). */
export const millis = (fallback: number, max = 3_600_000) => integer(1, max).default(fallback);

/** A rate from 1 to 1,000,000 a second. */
export const perSecond = (fallback: number) => integer(1, 1_000_000).default(fallback);

/** `fileOnly`: whoever may name a variable can read any variable. */
export const variableName = () => z.string().max(128).default('').register(keyMarks, { fileOnly: true });

/** The longest text of most keys, in characters. */
export const MAX_TEXT_LENGTH = 4096;

/** Text that only the file and the environment may set, such as a path; empty when not set. */
export const fileOnlyText = () =>
  z.string().max(MAX_TEXT_LENGTH).default('').register(keyMarks, { fileOnly: true });

/** The name of a thing in a collection, of at most `max` characters. */
export const plainName = (max: number) =>
  z
    .string()
    .max(max)
    .regex(/^[a-z0-9]+([_-][a-z0-9]+)*$/, 'small letters and digits, with single - or _ between them');

/** Names, in which * stands for any characters. */
export const patterns = () => z.array(z.string().min(1).max(128)).max(256);

/** Tools, or calls of tools with certain arguments. */
export const approvalRules = () =>
  z
    .array(
      z.union([
        z.string().min(1).max(128),
        z.strictObject({
          tool: z.string().min(1).max(128),
          when: z
            .record(z.string().min(1).max(128), z.string().min(1).max(512))
            .refine(
              (when) => Object.keys(when).length > 0,
              'must name an argument; else write the tool alone',
            )
            .refine((when) => Object.keys(when).length <= MAX_CONDITIONS, 'has too many conditions'),
        }),
      ]),
    )
    .max(256);

const MAX_CONDITIONS = 16;

/** A tool, or calls of it whose arguments all fit their pattern. */
export type ApprovalRule = z.output<ReturnType<typeof approvalRules>>[number];

/** Which tools may run. */
export const toolRule = () =>
  z.strictObject({
    allow: patterns()
      .default(['*'])
      .describe('Tools that may run, by the names models see; * stands for any characters.'),
    deny: patterns().default([]).describe('Tools that may not run, even if allow names them.'),
  });

/** An IPv4 or IPv6 address, alone or with a prefix length. */
export const addressRange = () =>
  z.string().max(64).refine(isAddressRange, 'must be an address or a CIDR such as 10.0.0.0/8');

/** The origin of a web page as browsers send it: scheme, host, and a port that is not the scheme's own. */
export const webOrigin = () =>
  z
    .string()
    .max(255)
    .refine(isOrigin, 'must be an origin such as https://chat.example.com, in lower case and without a path');

/** An http or https URL that carries no credentials; empty when not set. */
export const httpUrl = () =>
  z
    .string()
    .max(2048)
    .refine(isPlainHttpUrl, 'must be an http or https URL without a user or a password in it');

/** A PostgreSQL URL; empty when not set. */
export const postgresUrl = () =>
  z
    .string()
    .max(4096)
    .superRefine((text, context) => {
      const message = postgresUrlProblem(text);
      if (message !== undefined) context.addIssue({ code: 'custom', message });
    });

function isAddressRange(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/');
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (family === 4 ? 32 : 128));
}

function isOrigin(text: string): boolean {
  const url = parseUrl(text);
  return (url?.protocol === 'http:' || url?.protocol === 'https:') && url.origin === text;
}

function isPlainHttpUrl(text: string): boolean {
  const url = parseUrl(text);
  return (
    text === '' || (/^https?:$/.test(url?.protocol ?? '') && url?.username === '' && url.password === '')
  );
}

/** Databases whose URLs people try here. A message repeats nothing of a URL except its scheme. */
const OTHER_SYSTEMS: readonly (readonly [RegExp, string])[] = [
  [/^mysqlx?2?:/i, 'MySQL'],
  [/^mariadb:/i, 'MariaDB'],
  [/^(sqlite3?|file):/i, 'SQLite'],
  [/^(mssql|sqlserver):/i, 'SQL Server'],
  [/^mongodb(\+srv)?:/i, 'MongoDB'],
  [/^oracle:/i, 'Oracle'],
  [/^rediss?:/i, 'Redis'],
];

function postgresUrlProblem(text: string): string | undefined {
  if (text === '' || /^postgres(ql)?:$/.test(parseUrl(text)?.protocol ?? '')) return undefined;
  // The example has no user and no password, which redaction would hide.
  const example = 'postgres://host:5432/database';
  const other = OTHER_SYSTEMS.find(([scheme]) => scheme.test(text));
  if (other) return `names ${other[1]}; the gateway needs PostgreSQL 14 or later, such as ${example}`;
  if (/^jdbc:/i.test(text)) return `is a JDBC URL; write it as ${example}`;
  return 'must be a postgres:// or postgresql:// URL; special characters in its password must be percent-encoded';
}

function parseUrl(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined;
}
