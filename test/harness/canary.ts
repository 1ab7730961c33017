import { randomBytes } from 'node:crypto';

/** A secret in the form of no known key, so that only its value can give it away. */
export function canary(where: string): string {
  return `canary-${where}-${randomBytes(9).toString('hex')}`;
}
