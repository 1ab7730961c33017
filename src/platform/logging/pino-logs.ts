import { type Logger as PinoLogger, pino } from 'pino';
import { currentLogContext } from './log-context.js';
import { LEVEL_RANKS, type LineSink, type LogFields, type Logger, type LogLevel, Logs } from './logger.js';
import type { Redactor } from './redactor.js';
import { visibleJson, visibleText } from './visible-text.js';

/** How many early lines are kept for the first sink. */
const MAX_EARLY_LINES = 1000;

export interface PinoLogsOptions {
  readonly level: LogLevel;
  readonly redactor: Redactor;
  /** Where the lines go; each ends with a line feed, and comes with the rank of its level. */
  readonly write: (line: string, rank: number) => void;
}

/**
 * Writes one JSON line per call, with time, level and module. Secrets are taken out of the finished line, whatever key
 * they stand under.
 */
export class PinoLogs extends Logs {
  private readonly root: PinoLogger;
  private readonly sinks: LineSink[] = [];
  private readonly early: { line: string; rank: number }[] = [];
  private leastRank: number;
  private replica: string | undefined;

  constructor({ level, redactor, write }: PinoLogsOptions) {
    super();
    this.leastRank = LEVEL_RANKS[level];
    const destination = {
      // Asks pino for the rank of each line it writes.
      [Symbol.for('pino.metadata')]: true,
      lastLevel: 0,
      write: (text: string) => {
        const line = visibleJson(redactedLine(text.slice(0, -1), redactor));
        write(`${line}\n`, destination.lastLevel);
        this.hand(line, destination.lastLevel);
      },
    };
    const timestamp = timestamps();
    this.root = pino(
      {
        // Which lines are written is decided here, before a line is made: pino's children would keep an old level.
        level: 'trace',
        base: null,
        timestamp: () => `,"timestamp":"${timestamp(Date.now())}"`,
        formatters: { level: (label) => ({ level: label }) },
        messageKey: 'message',
      },
      destination,
    );
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
    if (LEVEL_RANKS[level] < this.leastRank) return;
    const line: Record<string, unknown> = { module };
    if (this.replica !== undefined) line['replica_id'] = this.replica;
    Object.assign(line, currentLogContext());
    if (fields !== undefined) addFields(line, fields);
    this.root[level](line, visibleText(message));
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

/** Adds fields to a line: an error as its sentence, and none in the place of the line's own keys. */
function addFields(line: Record<string, unknown>, fields: LogFields): void {
  for (const key of Object.keys(fields)) {
    const value = fields[key];
    line[OWN_KEYS.has(key) ? `field_${key}` : key] = value instanceof Error ? String(value) : value;
  }
}

/**
 * The JSON line without secrets, still JSON: where taking one out broke the syntax (a secret of digits that stood as a
 * number), every key and value is redacted by itself instead.
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

/** Writes times as `Date.toISOString` does, but makes the part that is the same for a whole second only once. */
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
