import { Injectable } from '@nestjs/common';
import { signingKey } from '../../common/text/webhook-secret.js';
import { SecretBox } from '../../platform/secrets/secret-box.js';

/** Hook secrets on their way into the database and out of it; each opens for its own hook only. */
@Injectable()
export class HookSecrets {
  constructor(private readonly box: SecretBox) {}

  seal(hookId: string, secret: string): string {
    return this.box.seal(secret, contextOf(hookId));
  }

  /** The keys that sign, newest first. Throws `CannotOpen` when the master key is another one. */
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
