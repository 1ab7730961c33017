import { InvalidArgumentError } from 'commander';
import { GatewayError } from '../common/errors/gateway-error.js';
import { parseExpiry } from '../platform/tokens/api-token.js';
import { type GrantedScope, parseScopes } from '../platform/tokens/scopes.js';

const MAX_NAME_LENGTH = 128;
const MAX_USER_LENGTH = 256;

export function scopesArgument(text: string): GrantedScope[] {
  return refusedAsArgument(() => parseScopes(text.split(',')));
}

/** Wrapped because commander reads null as "no value". */
export interface ExpiryArgument {
  readonly at: Date | null;
}

export function expiryArgument(text: string): ExpiryArgument {
  return refusedAsArgument(() => ({ at: parseExpiry(text) }));
}

export function nameArgument(text: string): string {
  return printable(text, MAX_NAME_LENGTH);
}

export function userArgument(text: string): string {
  return printable(text, MAX_USER_LENGTH);
}

/** An issuer, a subject or the id of a token, as its claim has it. */
export function identityArgument(text: string): string {
  return printable(text, MAX_USER_LENGTH);
}

/** Names of agents, separated by commas. */
export function agentsArgument(text: string): readonly string[] {
  const names = text.split(',').map((name) => name.trim());
  if (names.some((name) => !/^[a-z0-9]+([_-][a-z0-9]+)*$/.test(name)))
    throw new InvalidArgumentError('Expected names of agents, separated by commas.');
  return names;
}

/** Names, separated by commas. */
export function namesArgument(text: string): readonly string[] {
  return text.split(',').map((name) => nameArgument(name.trim()));
}

/** A count of lines, from 1 to 10,000. */
export function countArgument(text: string): number {
  const count = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (count < 1 || count > 10_000) throw new InvalidArgumentError('Expected a number from 1 to 10000.');
  return count;
}

const UNIT_SECS = { s: 1, m: 60, h: 3600, d: 86_400 } as const;

/** `24h`, `30m`, `0s` as seconds. */
export function secondsArgument(text: string): number {
  const match = /^(\d{1,7})([smhd])$/.exec(text);
  if (match === null) throw new InvalidArgumentError('Expected a time such as 24h, 30m or 3d.');
  return Number(match[1]) * UNIT_SECS[match[2] as keyof typeof UNIT_SECS];
}

/** `24h` as the moment 24 hours ago. */
export function agoArgument(text: string): Date {
  return new Date(Date.now() - secondsArgument(text) * 1000);
}

/** `30m` or a moment, in the form that the gateway accepts. */
export function sinceArgument(text: string): string {
  if (/^\d{1,7}[smhd]$/.test(text) || !Number.isNaN(Date.parse(text))) return text;
  throw new InvalidArgumentError('Expected a time such as 24h, 30m or 2026-01-31T12:00:00Z.');
}

/** `1234:9f86d0…` as the head of an audit. */
export function headArgument(text: string): { readonly sequence: number; readonly hash: string } {
  const match = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text);
  if (match === null)
    throw new InvalidArgumentError(
      'Expected a head as "audit export" prints it: a number, a colon and a hash.',
    );
  return { sequence: Number(match[1]), hash: match[2] ?? '' };
}

/** Names appear in terminals and logs, so control characters and invisible ones are refused. */
function printable(text: string, maxLength: number): string {
  const length = [...text].length;
  if (length < 1 || length > maxLength || /\p{C}/u.test(text) || text.trim() !== text) {
    throw new InvalidArgumentError(
      `Expected 1 to ${maxLength} printable characters without blanks around them.`,
    );
  }
  return text;
}

function refusedAsArgument<Value>(parse: () => Value): Value {
  try {
    return parse();
  } catch (error) {
    if (error instanceof GatewayError) throw new InvalidArgumentError(error.message);
    throw error;
  }
}
