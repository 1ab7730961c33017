import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import type { Response } from 'express';
import { type GatewayError, storedError } from '../../common/errors/gateway-error.js';
import { ConnectionLost } from '../../platform/database/database-failure.js';
import { type Logger, Logs } from '../../platform/logging/logger.js';
import { LeaseKeeper } from '../../platform/runtime/lease-keeper.js';
import type { GatewayRequest } from '../gateway-request.js';
import { KeyAlreadyUsed } from './idempotency.errors.js';
import { CLAIM_SECS, KeyStore, type PresentedKey, type StoredResponse } from './key.store.js';

/**
 * Renews the claims of requests in progress here, so that other replicas know they are being served. A claim that is lost changes
 * nothing for its request: the others are told then that the outcome is unknown.
 */
@Injectable()
export class Claims implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger: Logger;
  private readonly claimed = new Map<string, PresentedKey>();
  private readonly keeper = new LeaseKeeper<PresentedKey>({
    leaseMs: CLAIM_SECS * 1000,
    held: () => this.claimed,
    renew: (claimed) => this.store.renew([...claimed.keys()]),
    failed: (error, claims) =>
      this.logger.warn('idempotency claims could not be renewed; will retry', {
        claims,
        error: String(error),
      }),
  });

  constructor(
    private readonly store: KeyStore,
    logs: Logs,
  ) {
    this.logger = logs.for('gateway::idempotency');
  }

  onApplicationBootstrap(): void {
    this.keeper.start();
  }

  async onModuleDestroy(): Promise<void> {
    await this.keeper.stop();
  }

  /** Renews the claim until it is released. */
  hold(asked: PresentedKey): void {
    this.claimed.set(asked.scope, asked);
  }

  release({ scope }: PresentedKey): void {
    this.claimed.delete(scope);
  }
}

/** Stores the response of a claimed key before it is sent. */
@Injectable()
export class ResponseRecorder {
  private readonly logger: Logger;

  constructor(
    private readonly store: KeyStore,
    private readonly claims: Claims,
    logs: Logs,
  ) {
    this.logger = logs.for('gateway::idempotency');
  }

  /** Holds the response back until it is stored. */
  record(asked: PresentedKey, request: GatewayRequest, response: Response): void {
    const headersBefore = new Set(response.getHeaderNames());
    const send = response.send.bind(response);
    const settled = async (write: () => Promise<void>): Promise<void> => {
      response.send = send;
      await this.attempt(write);
      this.claims.release(asked);
    };
    this.claims.hold(asked);
    request.claim = { failed: (error) => settled(() => this.failed(asked, error)) };
    response.send = (body?: unknown) => {
      void settled(() => this.store.record(asked, answerOf(response, headersBefore, body))).then(() =>
        send(body),
      );
      return response;
    };
  }

  /** Claims a key for work of which nothing but the answer is stored. Throws `KeyAlreadyUsed`. */
  async claim(asked: PresentedKey): Promise<void> {
    if (!(await this.store.claim(asked))) throw new KeyAlreadyUsed();
    this.claims.hold(asked);
  }

  /** Stores what came of that work, sealed: an answer as JSON, or why there is none. */
  async settle(
    asked: PresentedKey,
    outcome: (StoredResponse & { readonly body: string }) | GatewayError,
  ): Promise<void> {
    await this.attempt(() =>
      outcome instanceof Error ? this.failed(asked, outcome) : this.store.recordSealed(asked, outcome),
    );
    this.claims.release(asked);
  }

  /** Logs when a route took the key but did not store its response: a defect, and too late to undo. */
  expectStored(key: { readonly isStored: boolean }, response: Response): void {
    response.once('close', () => {
      if (response.statusCode < 300 && !key.isStored)
        this.logger.error('a route accepted the Idempotency-Key and did not store its response');
    });
  }

  /** Without the record the caller still gets the response; a repeated request gets `idempotency_outcome_unknown`. */
  private async attempt(write: () => Promise<void>): Promise<void> {
    try {
      await write();
    } catch (error) {
      this.logger.warn('the response of an Idempotency-Key could not be stored', { error: String(error) });
    }
  }

  private async failed(asked: PresentedKey, error: GatewayError): Promise<void> {
    // The effect is unknown: the claim expires, and repeated requests get `idempotency_outcome_unknown`.
    if (error instanceof ConnectionLost) return;
    if (changedNothing(error)) await this.store.release(asked);
    else await this.store.record(asked, failureOf(error));
  }
}

/** A refusal is not stored: the same request may succeed once its cause is gone. */
function changedNothing({ status }: GatewayError): boolean {
  return status < 500 || status === 503;
}

function failureOf(error: GatewayError): StoredResponse {
  return { status: error.status, headers: {}, body: JSON.stringify(storedError(error)) };
}

/** The body, and the headers that the handler has set. */
function answerOf(response: Response, headersBefore: ReadonlySet<string>, body: unknown): StoredResponse {
  const set = response.getHeaderNames().filter((name) => !headersBefore.has(name));
  const headers = Object.fromEntries(set.map((name) => [name, String(response.getHeader(name))]));
  return { status: response.statusCode, headers, body: typeof body === 'string' ? body : null };
}
