import { CannotOpen, type SecretBox } from '../secrets/secret-box.js';
import type { AuditHead } from './audit-chain.js';

const CONTEXT = 'audit-checkpoint';

/** Only who has the master key can make it, for one place and one hash. */
export function signCheckpoint(box: SecretBox, { sequence, hash }: AuditHead): string {
  return box.seal(`${sequence}:${hash}`, CONTEXT);
}

export function isSigned(box: SecretBox, { sequence, hash }: AuditHead, signature: string): boolean {
  try {
    return box.open(signature, CONTEXT) === `${sequence}:${hash}`;
  } catch (error) {
    if (error instanceof CannotOpen) return false;
    throw error;
  }
}
