import { Injectable } from '@nestjs/common';
import { signingKey } from '../../common/text/webhook-secret.js';
import { SecretBox } from '../../platform/secrets/secret-box.js';

/** Seals and opens the secrets of hooks; each opens only for its own hook. */
@Injectable()
export class HookSecrets {
  constructor(private readonly box: SecretBox) {}

  seal(hookId: string, secret: string): string {
    return this.box.seal(secret, contextOf(hookId));
  }

  /** The text that was sealed. Throws `CannotOpen` under a different master key. */
  open(hookId: string, sealed: string): string {
    return this.box.open(sealed, contextOf(hookId));
  }

  /** The signing keys in the order given. Throws `CannotOpen` under a different master key. */
  signingKeys(hookId: string, sealed: readonly (string | null)[]): Buffer[] {
    return sealed.flatMap((text) => {
      const key = text === null ? undefined : signingKey(this.box.open(text, contextOf(hookId)));
      return key === undefined ? [] : [key];
    });
  }
}

function contextOf(hookId: string): string {
  return `hook:${hookId}`;
}
