import { randomBytes } from 'node:crypto';

/**
 * A secret without a known format, so that only its value can give it away.
 * @param _places where the gateway reads or stores it; `test/architecture/secret-places.spec.ts` checks these names
 */
export function canary(where: string, ..._places: string[]): string {
  return `canary-${where}-${randomBytes(9).toString('hex')}`;
}

/** The same for a secret that must have a certain format. */
export function planted<Secret>(secret: Secret, ..._places: string[]): Secret {
  return secret;
}
