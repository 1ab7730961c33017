import { createHash } from 'node:crypto';
import { type CanActivate, type ExecutionContext, Injectable, type OnModuleInit } from '@nestjs/common';
import { InjectMetric, makeCounterProvider } from '@willsoto/nestjs-prometheus';
import type { Response } from 'express';
import type { Counter } from 'prom-client';
import { familyOf } from '../../platform/tokens/caller.js';
import { type GatewayRequest, routeOf } from '../gateway-request.js';
import { AnswerReplayed, BadIdempotencyKey } from './idempotency.errors.js';
import { STORES_ITS_RESPONSE } from './idempotency-key.decorator.js';
import { type KeyOutcome, KeyStore, type PresentedKey } from './key.store.js';
import { refuseOtherRequest, replayResponse } from './replayed-response.js';
import { RequestKey } from './request-key.js';
import { ResponseRecorder } from './response-recorder.js';

const REQUESTS = 'agent_gateway_idempotent_requests_total';

export const keyMetricProvider = makeCounterProvider({
  name: REQUESTS,
  help: 'Requests with an Idempotency-Key by outcome: served for the first time, replayed, refused because of the key.',
  labelNames: ['outcome'],
});

/** Counts requests with an Idempotency-Key by outcome. */
@Injectable()
export class KeyMetrics implements OnModuleInit {
  constructor(@InjectMetric(REQUESTS) private readonly requests: Counter<'outcome'>) {}

  onModuleInit(): void {
    for (const outcome of ['first', 'replayed', 'refused']) this.requests.inc({ outcome }, 0);
  }

  count(outcome: KeyOutcome | undefined): void {
    if (outcome !== undefined) this.requests.inc({ outcome });
  }
}

/**
 * Fifth check: executes a POST or PATCH with an Idempotency-Key once (docs/specification/additions.md, Idempotency-Key). Runs
 * between reading the body and validating it. A guard and not an interceptor, whose mere presence slows every request.
 */
@Injectable()
export class IdempotencyGuard implements CanActivate {
  constructor(
    private readonly store: KeyStore,
    private readonly recorder: ResponseRecorder,
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
    const key = new RequestKey(asked, this.store, found?.turnId ?? undefined, this.recorder);
    request.key = key;
    this.recorder.expectStored(key, response);
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
    this.recorder.record(asked, request, response);
    return true;
  }
}

export const IDEMPOTENCY_KEY = 'idempotency-key';

const METHODS: ReadonlySet<string> = new Set(['POST', 'PATCH']);
const KEY = /^[\x21-\x7e]{1,255}$/;
const NO_BODY = createHash('sha256').digest('hex');

/** Undefined without the header, and where it has no meaning. @throws BadIdempotencyKey when malformed */
function presentedKey(request: GatewayRequest): PresentedKey | undefined {
  const sent = request.headers[IDEMPOTENCY_KEY];
  if (sent === undefined || !METHODS.has(request.method)) return undefined;
  const route = routeOf(request);
  if (route === undefined || request.caller === undefined) return undefined;
  if (typeof sent !== 'string' || !KEY.test(sent)) throw new BadIdempotencyKey();
  const { tokenId } = request.caller;
  // A rotated token shares the keys of the one it replaced.
  const family = familyOf(request.caller);
  const { method, params, profile, face, bodyHash = NO_BODY } = request;
  // From template and parameters, so that all spellings of a path give the same key.
  const path = [route, JSON.stringify(params)];
  const query = new URL(request.originalUrl, 'http://gateway').search;
  return {
    scope: hash([family, method, ...path, sent]),
    tokenId,
    operation: `${method} ${route}`,
    request: hash([face ?? profile, query, bodyHash]),
  };
}

function hash(parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
}
