import { AgentCard } from '@a2a-js/sdk';
import { RequestMalformedError } from '@a2a-js/sdk/errors';
import { JsonRpcTransportHandler, ServerCallContext, validateVersion } from '@a2a-js/sdk/server';
import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { stackOf } from '../../../common/errors/error-text.js';
import { dropMembers, withHeldBody } from '../../../http/body/with-held-body.js';
import type { GatewayRequest } from '../../../http/gateway-request.js';
import type { RequestKey } from '../../../http/idempotency/request-key.js';
import { publicUrl } from '../../../http/resource-metadata.js';
import { CallerDirectory } from '../../../platform/identity/caller-directory.js';
import { type Logger, Logs } from '../../../platform/logging/logger.js';
import { SseResponse } from '../../../platform/runtime/sse-response.js';
import { Settings } from '../../../platform/settings/settings.js';
import type { Caller } from '../../../platform/tokens/caller.js';
import { grants, LacksScope } from '../../../platform/tokens/scopes.js';
import { bearerOf } from '../../../platform/tokens/token-format.js';
import { A2aRequest } from '../a2a-request.js';
import { AgentCards } from '../agent-cards.service.js';
import { type A2aCaller, AgentTasks } from '../agent-tasks.service.js';
import { TaskPush } from '../task-push.service.js';

const HEARTBEAT_MS = 15_000;
/** A caller that reads nothing for this long is cut off. */
const STALLED_MS = 30_000;
const VERSION = 'a2a-version';
/** What the SDK also says where it cannot read the params, since only then nothing here has failed. */
const INTERNAL_ERROR = -32_603;
const MALFORMED = 'The params do not have the form that the method takes.';
/** An id comes back with every event of its stream. */
const MAX_ID_CHARACTERS = 256;
const ID_TOO_LONG = `"id" may have at most ${MAX_ID_CHARACTERS} characters.`;
/** Of a call of JSON-RPC. */
const MEMBERS = ['jsonrpc', 'id', 'method', 'params'];

/** Methods that show earlier messages, or have them sent somewhere, and so need `sessions:read` too. */
const READS = new Set<unknown>([
  ...['GetTask', 'ListTasks', 'SubscribeToTask'],
  ...['CreateTaskPushNotificationConfig', 'GetTaskPushNotificationConfig'],
  ...['ListTaskPushNotificationConfigs', 'DeleteTaskPushNotificationConfig'],
]);

type Answers = AsyncGenerator<unknown, void, undefined>;

/** Handles `/a2a` and the card. */
@Injectable()
export class A2aHandlers {
  private readonly logger: Logger;

  constructor(
    private readonly tasks: AgentTasks,
    private readonly cards: AgentCards,
    private readonly push: TaskPush,
    private readonly tokens: CallerDirectory,
    private readonly settings: Settings,
    logs: Logs,
  ) {
    this.logger = logs.for('a2a');
  }

  card(request: GatewayRequest): object {
    return AgentCard.toJSON(this.cards.card(this.urlOf(request))) as object;
  }

  /** Throws the `GatewayError` of failures that are not answered in JSON-RPC. */
  post(
    caller: Caller,
    key: RequestKey | undefined,
    request: GatewayRequest,
    response: Response,
  ): Promise<void> {
    let turn: Promise<unknown> | undefined;
    const began = (answer: Promise<unknown>): void => {
      turn = answer;
    };
    return withHeldBody(
      request,
      (held) => this.respond({ caller, held, began }, key, request, response),
      () => turn,
    );
  }

  private async respond(
    by: Omit<A2aCaller, 'mayGoOn'>,
    key: RequestKey | undefined,
    request: GatewayRequest,
    response: Response,
  ): Promise<void> {
    // A message has an id of its own, under which it begins one task.
    key?.replayed();
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    if (response.closed) gone.abort();
    const token = bearerOf(request.headers.authorization);
    const handler = new A2aRequest({
      ...{ tasks: this.tasks, cards: this.cards, push: this.push },
      ...{ url: this.urlOf(request), gone: gone.signal },
      by: { ...by, mayGoOn: () => this.tokens.mayGoOn(token) },
      unforeseen: (error) => this.unforeseen(error, request),
    });
    const { id, method } = request.body as Record<string, unknown>;
    if (typeof id === 'string' && id.length > MAX_ID_CHARACTERS) {
      response.status(200).json(failure(null, new RequestMalformedError(ID_TOO_LONG)));
      return;
    }
    if (READS.has(method) && !grants(by.caller.scopes, 'sessions:read'))
      throw new LacksScope('sessions:read');
    const answer = await this.answerTo(takenFrom(request), request.get(VERSION), handler);
    if (isStream(answer)) await stream(answer, id, handler, response);
    else {
      if (handler.refusal !== undefined) throw handler.refusal;
      const isMalformed = !handler.hasFailed && codeOf(answer) === INTERNAL_ERROR;
      response.status(200).json(isMalformed ? failure(id, new RequestMalformedError(MALFORMED)) : answer);
    }
  }

  /** Empties the params of the body: the handler has their content, and drops it before it waits for a turn. */
  private async answerTo(
    body: Record<string, unknown>,
    version: string | undefined,
    handler: A2aRequest,
  ): Promise<unknown> {
    const context = new ServerCallContext(version === undefined ? {} : { requestedVersion: version });
    try {
      validateVersion(context.requestedVersion, await handler.getAgentCard(), 'JSONRPC');
    } catch (error) {
      return failure(body['id'], error);
    }
    const answer = new JsonRpcTransportHandler(handler).handle(body, context);
    // The SDK keeps the params until the answer, and has read all of them before it first waits.
    dropMembers(body['params']);
    return answer;
  }

  private unforeseen(error: unknown, { requestId }: GatewayRequest): void {
    const fields = { request_id: requestId, error: stackOf(error) };
    this.logger.error('an unexpected error was answered with the code -32603', fields);
  }

  private urlOf(request: GatewayRequest): string {
    return `${publicUrl(this.settings.current, request)}/a2a`;
  }
}

/**
 * A failure before the first event gets an ordinary response; later the connection is cut, so that nothing looks
 * complete.
 */
async function stream(answers: Answers, id: unknown, handler: A2aRequest, response: Response): Promise<void> {
  let next: IteratorResult<unknown, void>;
  try {
    next = await answers.next();
  } catch (error) {
    if (handler.refusal !== undefined) throw handler.refusal;
    response.status(200).json(failure(id, error));
    return;
  }
  const events = new SseResponse(response);
  events.begin({ opening: '' });
  events.beatEvery(HEARTBEAT_MS, ': heartbeat\n\n');
  try {
    for (; next.done !== true && !events.isClosed; next = await answers.next()) {
      events.write(`data: ${JSON.stringify(next.value)}\n\n`);
      await events.drained({ stallMs: STALLED_MS });
    }
    events.end();
  } catch {
    events.destroy();
  } finally {
    await answers.return();
  }
}

/** Takes the call out of the request, which is kept until the response. */
function takenFrom(request: GatewayRequest): Record<string, unknown> {
  const body = request.body as Record<string, unknown>;
  request.body = undefined;
  return Object.fromEntries(MEMBERS.flatMap((name) => (name in body ? [[name, body[name]]] : [])));
}

function codeOf(answer: unknown): unknown {
  return (answer as { error?: { code?: unknown } } | undefined)?.error?.code;
}

function failure(id: unknown, error: unknown): object {
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
