import { Injectable } from '@nestjs/common';
import { TokenStore } from './token.store.js';

/** An answer is never older than this: a revoked token is refused on every replica well within 1.5 s. */
const FRESH_MS = 500;

/** The revisions of API tokens and of denials, asked for in one statement at most twice a second. */
@Injectable()
export class CredentialRevisions {
  private readonly listeners: (() => void)[] = [];
  private confirmedAt = Number.NEGATIVE_INFINITY;
  private confirming: Promise<void> | undefined;
  /** Changes with every change to any API token, except its last use. */
  tokens = '';
  /** Changes with every denial of an identity. */
  denials = '';

  constructor(private readonly store: TokenStore) {}

  /** Told when API tokens changed, before any request goes on. */
  onTokensChanged(listener: () => void): void {
    this.listeners.push(listener);
  }

  isFresh(): boolean {
    return performance.now() - this.confirmedAt <= FRESH_MS;
  }

  /** One question for all requests that wait for it. Rejects when the database cannot be asked: no one is let through. */
  confirm(): Promise<void> {
    this.confirming ??= this.ask().finally(() => {
      this.confirming = undefined;
    });
    return this.confirming;
  }

  private async ask(): Promise<void> {
    const askedAt = performance.now();
    const { tokens, denials } = await this.store.revisions();
    if (tokens !== this.tokens) {
      this.tokens = tokens;
      for (const listener of this.listeners) listener();
    }
    this.denials = denials;
    this.confirmedAt = askedAt;
  }
}
