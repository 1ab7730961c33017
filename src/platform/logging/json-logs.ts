import { currentLogContext } from './log-context.js';
import { LEVEL_RANKS, type LineSink, type LogFields, type Logger, type LogLevel, Logs } from './logger.js';
import type { Redactor } from './redactor.js';
import { visibleJson, visibleText } from './visible-text.js';

/** How many early lines are kept for the first sink. */
const MAX_EARLY_LINES = 1000;

export interface JsonLogsOptions {
  readonly level: LogLevel;
  readonly redactor: Redactor;
  /** Where the lines go; each ends with a line feed, and comes with the rank of its level. */
  readonly write: (line: string, rank: number) => void;
}

/**
 * Writes one JSON line for each call, with time, level and module. Secrets are removed from the finished line, whatever
 * key they stand under.
 */
export class JsonLogs extends Logs {
  private readonly redactor: Redactor;
  private readonly write: JsonLogsOptions['write'];
  private readonly timestamp = timestamps();
  private readonly sinks: LineSink[] = [];
  private readonly early: { line: string; rank: number }[] = [];
  private leastRank: number;
  private replica: string | undefined;

  constructor({ level, redactor, write }: JsonLogsOptions) {
    super();
    this.leastRank = LEVEL_RANKS[level];
    this.redactor = redactor;
    this.write = write;
  }

  for(module: string): Logger {
    const name = visibleText(module);
    const at =
      (level: LogLevel) =>
      (message: string, fields?: LogFields): void =>
        this.log(level, name, message, fields);
    return {
      trace: at('trace'),
      debug: at('debug'),
      info: at('info'),
      warn: at('warn'),
      error: at('error'),
    };
  }

  override setLevel(level: LogLevel): void {
    this.leastRank = LEVEL_RANKS[level];
  }

  override nameReplica(id: string): void {
    this.replica = id;
  }

  override copyTo(sink: LineSink): void {
    this.sinks.push(sink);
    for (const { line, rank } of this.early.splice(0)) sink(line, rank);
  }

  private log(level: LogLevel, module: string, message: string, fields: LogFields | undefined): void {
    const rank = LEVEL_RANKS[level];
    if (rank < this.leastRank) return;
    const parts: Record<string, unknown> = { level, timestamp: this.timestamp(Date.now()), module };
    if (this.replica !== undefined) parts['replica_id'] = this.replica;
    Object.assign(parts, currentLogContext());
    if (fields !== undefined) addFields(parts, fields);
    parts['message'] = visibleText(message);
    const line = visibleJson(redactedLine(jsonOf(parts), this.redactor));
    this.write(`${line}\n`, rank);
    this.hand(line, rank);
  }

  private hand(line: string, rank: number): void {
    for (const sink of this.sinks) sink(line, rank);
    if (this.sinks.length > 0) return;
    this.early.push({ line, rank });
    if (this.early.length > MAX_EARLY_LINES) this.early.shift();
  }
}

/** The keys of every line; a field with one of these names becomes `field_<name>`. */
const OWN_KEYS = new Set(['level', 'timestamp', 'module', 'message', 'replica_id']);

/**
 * Adds fields to a line: an error as its sentence. Functions, and fields with the names of the line's own keys, are
 * left out.
 */
function addFields(line: Record<string, unknown>, fields: LogFields): void {
  for (const key of Object.keys(fields)) {
    const value = fields[key];
    if (typeof value === 'function') continue;
    line[OWN_KEYS.has(key) ? `field_${key}` : key] = value instanceof Error ? String(value) : value;
  }
}

/** One bad value, such as a circle, must not lose the line: only that value is replaced. */
function jsonOf(line: Record<string, unknown>): string {
  try {
    return JSON.stringify(line);
  } catch {
    return JSON.stringify(
      Object.fromEntries(Object.entries(line).map(([key, value]) => [key, writable(value)])),
    );
  }
}

function writable(value: unknown): unknown {
  if (typeof value === 'bigint') return String(value);
  try {
    const json = JSON.stringify(value) as string | undefined;
    return json === undefined ? undefined : JSON.parse(json);
  } catch {
    return '(cannot be written as JSON)';
  }
}

/**
 * The JSON line without secrets, and still valid JSON. When removing a secret broke the syntax (a secret of digits that
 * stood as a number), every key and value is redacted separately instead.
 */
function redactedLine(line: string, redactor: Redactor): string {
  const redacted = redactor.redact(line);
  if (redacted === line || isJson(redacted)) return redacted;
  return JSON.stringify(redactedValue(JSON.parse(line), redactor));
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function redactedValue(value: unknown, redactor: Redactor): unknown {
  if (Array.isArray(value)) return value.map((item) => redactedValue(item, redactor));
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [redactor.redact(key), redactedValue(item, redactor)]),
    );
  }
  const text = String(value);
  const redacted = redactor.redact(text);
  return redacted === text ? value : redacted;
}

const SECOND_MS = 1000;

/** Writes times as `Date.toISOString` does, but formats the part up to the second only once a second. */
export function timestamps(): (atMs: number) => string {
  let second = Number.NaN;
  let start = '';
  return (atMs) => {
    const ms = atMs % SECOND_MS;
    if (atMs - ms !== second) {
      second = atMs - ms;
      start = new Date(second).toISOString().slice(0, -'000Z'.length);
    }
    return `${start}${ms < 10 ? '00' : ms < 100 ? '0' : ''}${ms}Z`;
  };
}
