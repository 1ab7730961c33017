import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Response } from 'express';
import type { GatewayRequest } from '../gateway-request.js';
import { AnswerReplayed } from './idempotency.errors.js';
import { STORES_ITS_RESPONSE } from './idempotency-key.decorator.js';
import { KeyStore, type PresentedKey } from './key.store.js';
import { KeyMetrics } from './key-metrics.js';
import { presentedKey } from './presented-key.js';
import { refuseOtherRequest, replayResponse } from './replayed-response.js';
import { RequestKey } from './request-key.js';
import { ResponseRecorder } from './response-recorder.js';

/**
 * Fifth check: executes a POST or PATCH with an Idempotency-Key once (docs/specification/additions.md, Idempotency-Key). Runs
 * between reading the body and validating it. A guard and not an interceptor, whose mere presence slows every request.
 */
@Injectable()
export class IdempotencyGuard implements CanActivate {
  constructor(
    private readonly store: KeyStore,
    private readonly keeper: ResponseRecorder,
    private readonly metrics: KeyMetrics,
  ) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<GatewayRequest>();
    const asked = presentedKey(request);
    if (asked === undefined) return true;
    const response = http.getResponse<Response>();
    request.presentedKey = asked;
    request.keyOutcome = 'first';
    response.once('close', () => this.metrics.count(request.keyOutcome));
    return Reflect.hasMetadata(STORES_ITS_RESPONSE, context.getHandler())
      ? this.admitStoring(asked, request, response)
      : this.admitClaimed(asked, request, response);
  }

  /** Sends the response of the request that was faster. */
  async replay(asked: PresentedKey, request: GatewayRequest, response: Response): Promise<void> {
    replayResponse(await this.store.find(asked.scope), asked, request, response);
  }

  /** The handler commits its response with its effect, and replays a turn itself. */
  private async admitStoring(
    asked: PresentedKey,
    request: GatewayRequest,
    response: Response,
  ): Promise<true> {
    const found = await this.store.find(asked.scope);
    if (found?.turnId === null) {
      replayResponse(found, asked, request, response);
      throw new AnswerReplayed();
    }
    if (found !== undefined) refuseOtherRequest(found, asked);
    const key = new RequestKey(asked, this.store, found?.turnId ?? undefined);
    request.key = key;
    this.keeper.expectStored(key, response);
    return true;
  }

  /** Claims the key before the handler runs, and stores the response before it is sent. */
  private async admitClaimed(
    asked: PresentedKey,
    request: GatewayRequest,
    response: Response,
  ): Promise<true> {
    if (!(await this.store.claim(asked))) {
      await this.replay(asked, request, response);
      throw new AnswerReplayed();
    }
    this.keeper.record(asked, request, response);
    return true;
  }
}
