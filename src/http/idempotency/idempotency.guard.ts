import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Response } from 'express';
import type { GatewayRequest } from '../gateway-request.js';
import { AnswerKeeper } from './answer-keeper.js';
import { askedKey } from './asked-key.js';
import { AnsweredAgain } from './idempotency.errors.js';
import { type AskedKey, KeyStore } from './key.store.js';
import { KeyMetrics } from './key-metrics.js';
import { RequestKey } from './request-key.js';
import { KEEPS_ITS_ANSWER } from './the-key.decorator.js';
import { refuseOtherRequest, tellAgain } from './told-again.js';

/**
 * Fifth check: a POST or PATCH with an Idempotency-Key is done once (docs/specification/additions.md, Idempotency-Key).
 * It stands between the body and its validation. Without the header it does nothing; that is why it is no interceptor,
 * whose mere presence costs.
 */
@Injectable()
export class IdempotencyGuard implements CanActivate {
  constructor(
    private readonly store: KeyStore,
    private readonly keeper: AnswerKeeper,
    private readonly metrics: KeyMetrics,
  ) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<GatewayRequest>();
    const asked = askedKey(request);
    if (asked === undefined) return true;
    const response = http.getResponse<Response>();
    request.askedKey = asked;
    request.keyOutcome = 'first';
    response.once('close', () => this.metrics.count(request.keyOutcome));
    return Reflect.hasMetadata(KEEPS_ITS_ANSWER, context.getHandler())
      ? this.admitKeeping(asked, request, response)
      : this.admitClaimed(asked, request, response);
  }

  /** Tells the answer of whoever was faster. */
  async again(asked: AskedKey, request: GatewayRequest, response: Response): Promise<void> {
    tellAgain(await this.store.find(asked.scope), asked, request, response);
  }

  /** The handler commits its answer with its effect, and tells a turn again by itself. */
  private async admitKeeping(asked: AskedKey, request: GatewayRequest, response: Response): Promise<true> {
    const found = await this.store.find(asked.scope);
    if (found?.turnId === null) {
      tellAgain(found, asked, request, response);
      throw new AnsweredAgain();
    }
    if (found !== undefined) refuseOtherRequest(found, asked);
    const key = new RequestKey(asked, this.store, found?.turnId ?? undefined);
    request.key = key;
    this.keeper.expectKept(key, response);
    return true;
  }

  /** The key is claimed before anything is done, and the answer written down before it is told. */
  private async admitClaimed(asked: AskedKey, request: GatewayRequest, response: Response): Promise<true> {
    if (!(await this.store.claim(asked))) {
      await this.again(asked, request, response);
      throw new AnsweredAgain();
    }
    this.keeper.keep(asked, request, response);
    return true;
  }
}
