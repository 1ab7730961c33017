import { randomBytes, timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Unauthorized } from '../../common/errors/gateway-error.js';
import { hashToken } from '../../platform/tokens/token-format.js';
import { type MintedToken, TokensService } from '../../platform/tokens/tokens.service.js';

const CODE_MS = 10 * 60_000;
const TOKEN_MS = 12 * 3_600_000;

/** The code is unknown, used, too old, or came from another machine; all of them get the same answer. */
class SignInRefused extends Unauthorized {
  constructor() {
    super(
      'This sign-in link is not valid here: it works once, for ten minutes after the start, and only on the machine of the ' +
        'gateway. Start the gateway again for a new one, or sign in with a token ("agent-gateway auth token create").',
      { headers: { 'WWW-Authenticate': 'Sign-In-Code realm="agent-gateway"' } },
    );
  }
}

/**
 * Signs the person who started the gateway in to the console, once. Only this process, whose address is in the link,
 * knows the code: so it can be used once over all replicas, and is worthless after a restart.
 */
@Injectable()
export class ConsoleSignIn {
  private code: { readonly sha256: Buffer; readonly endsAt: number } | undefined;

  constructor(private readonly tokens: TokensService) {}

  /** Makes a code for a link; an earlier code becomes void. */
  createCode(): string {
    const code = randomBytes(32).toString('base64url');
    this.code = { sha256: hashToken(code), endsAt: Date.now() + CODE_MS };
    return code;
  }

  /**
   * An administrator's token for twelve hours.
   * @param isLocal whether the request comes from this very machine
   * @throws SignInRefused, after which a code that was right can still be used
   */
  async exchange(code: string, isLocal: boolean): Promise<MintedToken> {
    const known = this.code;
    if (known === undefined || !isLocal || !timingSafeEqual(hashToken(code), known.sha256))
      throw new SignInRefused();
    this.code = undefined;
    if (known.endsAt < Date.now()) throw new SignInRefused();
    const expiresAt = new Date(Date.now() + TOKEN_MS);
    return this.tokens.create({ name: 'console', scopes: ['*'], expiresAt, boundUserId: null });
  }
}
