import { Injectable } from '@nestjs/common';
import type { Caller } from '../tokens/caller.js';
import { type LookUpGate, TokenDirectory } from '../tokens/token-directory.js';
import { JwtDirectory } from './jwt-directory.js';
import { looksLikeJwt } from './presented-jwt.js';

/** Finds the caller of a token, whether it is one of the gateway's own or of the company's identity provider. */
@Injectable()
export class CallerDirectory {
  constructor(
    private readonly tokens: TokenDirectory,
    private readonly jwts: JwtDirectory,
  ) {}

  /**
   * Returns without a promise when the caller is known, as for nearly every request; undefined for a token that is not
   * valid. Rejects with `Forbidden` for a valid token without a role, and with what the gate throws.
   */
  find(
    presented: string | undefined,
    gate?: () => LookUpGate,
  ): Caller | undefined | Promise<Caller | undefined> {
    if (presented !== undefined && looksLikeJwt(presented)) return this.jwts.find(presented, gate);
    return this.tokens.find(presented, gate);
  }

  /**
   * Whether a stream that was opened with this token may continue: not when the token expired, or was revoked or
   * denied.
   */
  async mayGoOn(presented: string | undefined): Promise<boolean> {
    if (presented !== undefined && looksLikeJwt(presented)) return this.jwts.mayGoOn(presented);
    return (await this.tokens.find(presented)) !== undefined;
  }
}
