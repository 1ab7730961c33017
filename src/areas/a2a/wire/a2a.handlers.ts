import { once } from 'node:events';
import { AgentCard } from '@a2a-js/sdk';
import { JsonRpcTransportHandler, ServerCallContext, validateVersion } from '@a2a-js/sdk/server';
import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import type { GatewayRequest } from '../../../http/gateway-request.js';
import type { RequestKey } from '../../../http/idempotency/request-key.js';
import { publicUrl } from '../../../http/resource-metadata.js';
import { CallerDirectory } from '../../../platform/identity/caller-directory.js';
import { Settings } from '../../../platform/settings/settings.js';
import type { Caller } from '../../../platform/tokens/caller.js';
import { bearerOf } from '../../../platform/tokens/token-format.js';
import { A2aRequest } from '../a2a-request.js';
import { AgentCards } from '../agent-cards.service.js';
import { AgentTasks } from '../agent-tasks.service.js';

const HEARTBEAT_MS = 15_000;
/** A caller that reads nothing for this long is cut off. */
const STALLED_MS = 30_000;
const VERSION = 'a2a-version';

type Answers = AsyncGenerator<unknown, void, undefined>;

/** What `/a2a` and the card answer. */
@Injectable()
export class A2aHandlers {
  constructor(
    private readonly tasks: AgentTasks,
    private readonly cards: AgentCards,
    private readonly tokens: CallerDirectory,
    private readonly settings: Settings,
  ) {}

  card(request: GatewayRequest): object {
    return AgentCard.toJSON(this.cards.card(this.urlOf(request))) as object;
  }

  /** Throws the `GatewayError` of what is not for JSON-RPC to say. */
  async post(
    caller: Caller,
    key: RequestKey | undefined,
    request: GatewayRequest,
    response: Response,
  ): Promise<void> {
    // A message has an id of its own, under which it begins one task.
    key?.replayed();
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const token = bearerOf(request.headers.authorization);
    const handler = new A2aRequest({
      ...{ tasks: this.tasks, cards: this.cards, url: this.urlOf(request), gone: gone.signal },
      by: { caller, mayGoOn: () => this.tokens.mayGoOn(token) },
    });
    const body = request.body as Record<string, unknown>;
    const answer = await this.answerTo(body, request.get(VERSION), handler);
    if (isStream(answer)) await stream(answer, body, handler, response);
    else {
      if (handler.refusal !== undefined) throw handler.refusal;
      response.status(200).json(answer);
    }
  }

  private async answerTo(
    body: Record<string, unknown>,
    version: string | undefined,
    handler: A2aRequest,
  ): Promise<unknown> {
    const context = new ServerCallContext(version === undefined ? {} : { requestedVersion: version });
    try {
      validateVersion(context.requestedVersion, await handler.getAgentCard(), 'JSONRPC');
    } catch (error) {
      return failure(body, error);
    }
    return new JsonRpcTransportHandler(handler).handle(body, context);
  }

  private urlOf(request: GatewayRequest): string {
    return `${publicUrl(this.settings.current, request)}/a2a`;
  }
}

/** What goes wrong before the first event is an ordinary answer; later the connection is cut, so that nothing looks complete. */
async function stream(
  answers: Answers,
  body: Record<string, unknown>,
  handler: A2aRequest,
  response: Response,
): Promise<void> {
  let next: IteratorResult<unknown, void>;
  try {
    next = await answers.next();
  } catch (error) {
    if (handler.refusal !== undefined) throw handler.refusal;
    response.status(200).json(failure(body, error));
    return;
  }
  response.writeHead(200, { 'Content-Type': 'text/event-stream', 'X-Accel-Buffering': 'no' });
  const beat = setInterval(() => response.write(': heartbeat\n\n'), HEARTBEAT_MS).unref();
  try {
    for (; next.done !== true && !response.closed; next = await answers.next()) {
      if (!response.write(`data: ${JSON.stringify(next.value)}\n\n`))
        await once(response, 'drain', { signal: AbortSignal.timeout(STALLED_MS) });
    }
    response.end();
  } catch {
    response.destroy();
  } finally {
    clearInterval(beat);
    await answers.return();
  }
}

function failure({ id }: Record<string, unknown>, error: unknown): object {
  const isId = typeof id === 'string' || typeof id === 'number';
  return {
    jsonrpc: '2.0',
    id: isId ? id : null,
    error: JsonRpcTransportHandler.mapToJSONRPCError(error),
  };
}

function isStream(answer: unknown): answer is Answers {
  return typeof answer === 'object' && answer !== null && Symbol.asyncIterator in answer;
}
