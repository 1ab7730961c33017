import { GatewayError } from '../common/errors/gateway-error.js';
import { InvalidSettings } from '../platform/settings/settings-validation.js';

const UNREACHABLE = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EHOSTUNREACH',
  'EAI_AGAIN',
]);
const SQLSTATE = /^[0-9A-Z]{5}$/;
const CHECK = 'check DATABASE_URL (or database.url), and that PostgreSQL is running there.';

/** One sentence for people about the error that stopped a command; for invalid settings, every problem. */
export function failureSentence(error: unknown): string {
  if (error instanceof InvalidSettings) return error.message;
  if (error instanceof GatewayError)
    return error.cause === undefined ? error.message : failureSentence(error.cause);
  if (error instanceof AggregateError && error.message === '') return failureSentence(error.errors[0]);
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (UNREACHABLE.has(code)) return `The database cannot be reached (${error.message}): ${CHECK}`;
  if ('severity' in error && SQLSTATE.test(code)) return `The database refused (${code}): ${error.message}`;
  return error.message || error.name;
}
