import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import type { GatewayError } from '../../common/errors/gateway-error.js';
import { storedError } from '../../common/errors/replayed-error.js';
import { ConnectionLost } from '../../platform/database/database-failure.js';
import { type Logger, Logs } from '../../platform/logging/logger.js';
import type { GatewayRequest } from '../gateway-request.js';
import { Claims } from './claims.service.js';
import { KeyStore, type PresentedKey, type StoredResponse } from './key.store.js';
import type { RequestKey } from './request-key.js';

/** Writes down what came of a claimed key, before it is told. */
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

  /** Holds the answer back until it is written down. */
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

  /** Says so when a route that took its key did not keep its answer: it is our mistake, and too late to undo. */
  expectStored(key: RequestKey, response: Response): void {
    response.once('close', () => {
      if (response.statusCode < 300 && !key.isStored)
        this.logger.error('a route accepted the Idempotency-Key and did not store its response');
    });
  }

  /** What was done was done, and its caller is told so; without the record, who asks again is told that it is unknown. */
  private async attempt(write: () => Promise<void>): Promise<void> {
    try {
      await write();
    } catch (error) {
      this.logger.warn('the response of an Idempotency-Key could not be stored', { error: String(error) });
    }
  }

  private async failed(asked: PresentedKey, error: GatewayError): Promise<void> {
    // Nobody knows what was changed: the claim runs out, and says so.
    if (error instanceof ConnectionLost) return;
    if (changedNothing(error)) await this.store.release(asked);
    else await this.store.record(asked, failureOf(error));
  }
}

/** A refusal is no answer to keep: the same request may be served when what was in its way is gone. */
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
