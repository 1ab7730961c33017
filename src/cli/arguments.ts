import { InvalidArgumentError } from 'commander';
import { GatewayError } from '../errors/gateway-error.js';
import type { GrantedScope } from '../tokens/scopes.js';
import { parseScopes } from '../tokens/scopes.js';
import { parseExpiry } from '../tokens/token-expiry.js';

const LONGEST_NAME = 128;
const LONGEST_USER = 256;

export function scopesArgument(text: string): GrantedScope[] {
  return refusedAsArgument(() => parseScopes(text.split(',')));
}

/** Wrapped, because commander takes a null for no value. */
export interface ExpiryArgument {
  readonly at: Date | null;
}

export function expiryArgument(text: string): ExpiryArgument {
  return refusedAsArgument(() => ({ at: parseExpiry(text) }));
}

export function nameArgument(text: string): string {
  return printable(text, LONGEST_NAME);
}

export function userArgument(text: string): string {
  return printable(text, LONGEST_USER);
}

/** Names are shown in terminals and logs: no control characters, no invisible ones. */
function printable(text: string, longest: number): string {
  const length = [...text].length;
  if (length < 1 || length > longest || /\p{C}/u.test(text) || text.trim() !== text) {
    throw new InvalidArgumentError(`Expected 1 to ${longest} printable characters, no blanks around them.`);
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
