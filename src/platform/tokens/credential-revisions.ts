import { Injectable } from '@nestjs/common';
import { TokenStore } from './token.store.js';

/** A result is never older than this, so that every replica refuses a revoked token well within 1.5 s. */
const FRESH_MS = 500;

/** The revisions of API tokens and of denials, read in one statement at most twice a second. */
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

  /** Called when API tokens changed, before any request continues. */
  onTokensChanged(listener: () => void): void {
    this.listeners.push(listener);
  }

  isFresh(): boolean {
    return performance.now() - this.confirmedAt <= FRESH_MS;
  }

  /** All waiting requests share one query. Rejects when the database cannot be read: then no one is let through. */
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
