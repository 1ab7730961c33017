import { storableText } from '../database/storable-text.js';
import { fieldText, visibleText } from './visible-text.js';

/** Longer messages are cut when they are stored; the gateway's own output contains them whole. */
const MAX_MESSAGE_LENGTH = 8192;
const MAX_NAME_LENGTH = 256;

/** A line on its way into the database. */
export interface StoredLine {
  readonly at: Date;
  readonly rank: number;
  readonly module: string;
  readonly message: string;
  readonly sessionId: string | null;
}

/**
 * Fields that have a column of their own, and the one that every message would repeat. All others are appended to the
 * message.
 */
const COLUMNS = new Set(['timestamp', 'level', 'module', 'message', 'session_id', 'replica_id']);

/** Parses a finished JSON line. A line that is not JSON, which should never happen, is replaced by one that says so. */
export function storedLine(json: string, rank: number): StoredLine {
  const line = parsed(json);
  const { timestamp, module, message, session_id: sessionId } = line;
  let text = String(message);
  for (const key of Object.keys(line)) if (!COLUMNS.has(key)) text += fieldText(key, line[key]);
  return {
    at: new Date(String(timestamp)),
    rank,
    module: truncate(String(module), MAX_NAME_LENGTH),
    message: truncate(text, MAX_MESSAGE_LENGTH),
    sessionId: typeof sessionId === 'string' ? truncate(visibleText(sessionId), MAX_NAME_LENGTH) : null,
  };
}

function parsed(json: string): Record<string, unknown> {
  try {
    return JSON.parse(json) as Record<string, unknown>;
  } catch {
    return { timestamp: new Date().toISOString(), module: 'logs', message: 'a line could not be read back' };
  }
}

function truncate(text: string, longest: number): string {
  const storable = storableText(text);
  return storable.length <= longest ? storable : `${storableText(storable.slice(0, longest - 1))}…`;
}
