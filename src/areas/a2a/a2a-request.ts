import type {
  AgentCard,
  CancelTaskRequest,
  DeleteTaskPushNotificationConfigRequest,
  GetTaskPushNotificationConfigRequest,
  GetTaskRequest,
  ListTaskPushNotificationConfigsRequest,
  ListTaskPushNotificationConfigsResponse,
  ListTasksRequest,
  ListTasksResponse,
  Message,
  SendMessageRequest,
  StreamResponse,
  SubscribeToTaskRequest,
  Task,
  TaskPushNotificationConfig,
} from '@a2a-js/sdk';
import {
  RequestMalformedError,
  TaskNotCancelableError,
  TaskNotFoundError,
  UnsupportedOperationError,
} from '@a2a-js/sdk/errors';
import type { A2ARequestHandler, ServerCallContext } from '@a2a-js/sdk/server';
import { GatewayError } from '../../common/errors/gateway-error.js';
import type { PageQuery } from '../../http/paging/page-query.js';
import type { NewTaskHook } from '../hooks/hooks.api.js';
import type { AgentCards } from './agent-cards.service.js';
import type { A2aCaller, AgentMessage, AgentTasks } from './agent-tasks.service.js';
import { saidParts } from './message-parts.js';
import { presentPush, pushFrom } from './push-configs.js';
import { statusesIn, type TaskFilter } from './task-list.store.js';
import type { TaskPush } from './task-push.service.js';
import { doingOf, isOver, presentPiece, presentStatus, presentTask, type TaskFacts } from './task-views.js';

const PAGE_SIZE = 50;
const MAX_PAGE_SIZE = 100;

export interface A2aTerms {
  readonly tasks: AgentTasks;
  readonly cards: AgentCards;
  readonly push: TaskPush;
  readonly by: A2aCaller;
  /** The public URL of `/a2a`. */
  readonly url: string;
  /** Aborted when nobody reads the response. */
  readonly gone: AbortSignal;
  /** Logs unexpected errors. */
  readonly unforeseen: (error: unknown) => void;
}

/** One request of another agent, in the protocol's terms. Lives as long as its response. */
export class A2aRequest implements A2ARequestHandler {
  /** Set for errors that HTTP expresses better than JSON-RPC: limits, rights, a database that is away. */
  refusal: GatewayError | undefined;
  /** Whether something unexpected went wrong here. */
  hasFailed = false;

  constructor(private readonly terms: A2aTerms) {}

  async getAgentCard(): Promise<AgentCard> {
    return this.terms.cards.card(this.terms.url);
  }

  async getAuthenticatedExtendedAgentCard(): Promise<AgentCard> {
    return this.terms.cards.card(this.terms.url, this.terms.by.caller);
  }

  async sendMessage(params: SendMessageRequest, context: ServerCallContext): Promise<Task> {
    const { tasks, by, gone } = this.terms;
    const task = await this.begun(params, context);
    if (params.configuration?.returnImmediately === true) return presentTask(task);
    return presentTask(await this.spoken(tasks.ended(task, by, gone)));
  }

  async *sendMessageStream(
    params: SendMessageRequest,
    context: ServerCallContext,
  ): AsyncGenerator<StreamResponse, void, undefined> {
    yield* this.shown(await this.begun(params, context));
  }

  async getTask({ id }: GetTaskRequest): Promise<Task> {
    return presentTask(await this.found(id));
  }

  async cancelTask({ id }: CancelTaskRequest): Promise<Task> {
    const task = await this.found(id);
    if (isOver(task)) throw new TaskNotCancelableError(`The task ${id} is over.`);
    return presentTask(await this.spoken(this.terms.tasks.cancel(task, this.terms.by.caller)));
  }

  async *resubscribe({ id }: SubscribeToTaskRequest): AsyncGenerator<StreamResponse, void, undefined> {
    const task = await this.found(id);
    if (isOver(task)) throw new UnsupportedOperationError(`The task ${id} is over: get it instead.`);
    yield* this.shown(task);
  }

  async listTasks(params: ListTasksRequest, { tenant }: ServerCallContext): Promise<ListTasksResponse> {
    const filter = taskFilter(params, tenant);
    const page = pageQuery(params);
    const { tasks, next, total } = await this.spoken(
      this.terms.tasks.list(filter, page, this.terms.by.caller),
    );
    const shown =
      params.includeArtifacts === true ? tasks : tasks.map((task) => ({ ...task, content: null }));
    return {
      tasks: shown.map(presentTask),
      nextPageToken: next ?? '',
      pageSize: page.limit,
      totalSize: total,
    };
  }

  async createTaskPushNotificationConfig(
    params: TaskPushNotificationConfig,
  ): Promise<TaskPushNotificationConfig> {
    const hook = pushFrom(params);
    const task = await this.found(params.taskId);
    await this.spoken(this.terms.push.put(task, hook, this.terms.by.caller));
    return presentPush(task.taskId, hook);
  }

  async getTaskPushNotificationConfig({
    taskId,
    id,
  }: GetTaskPushNotificationConfigRequest): Promise<TaskPushNotificationConfig> {
    const task = await this.found(taskId);
    const hook = await this.spoken(this.terms.push.find(task, id));
    if (hook === undefined) throw new TaskNotFoundError('The task has no push notification of this id.');
    return presentPush(taskId, hook);
  }

  async listTaskPushNotificationConfigs({
    taskId,
  }: ListTaskPushNotificationConfigsRequest): Promise<ListTaskPushNotificationConfigsResponse> {
    const hooks = await this.spoken(this.terms.push.list(await this.found(taskId)));
    return { configs: hooks.map((hook) => presentPush(taskId, hook)), nextPageToken: '' };
  }

  async deleteTaskPushNotificationConfig({
    taskId,
    id,
  }: DeleteTaskPushNotificationConfigRequest): Promise<void> {
    await this.spoken(this.terms.push.remove(await this.found(taskId), id));
  }

  /** The task in its present state, then what is said and done until it is over. */
  private async *shown(task: TaskFacts): AsyncGenerator<StreamResponse, void, undefined> {
    const { tasks, by, gone } = this.terms;
    yield { payload: { $case: 'task', value: presentTask({ ...task, content: null }) } };
    let append = false;
    for await (const event of tasks.events(task, by, gone)) {
      if (event.type === 'restarted') append = false;
      if (event.type === 'token') {
        yield presentPiece(task, event.text, append);
        append = true;
      }
      const doing = doingOf(event);
      if (doing !== undefined)
        yield presentStatus({ ...task, status: 'running', problem: doing, at: new Date() });
    }
    yield presentStatus(await this.spoken(tasks.ended(await this.found(task.taskId), by, gone)));
  }

  /** Takes the message out of the request, because the request is kept until its response, which may take long. */
  private async begun(params: SendMessageRequest, { tenant }: ServerCallContext): Promise<TaskFacts> {
    const { message, configuration, metadata } = params;
    if (message === undefined) throw new RequestMalformedError('The request has no message.');
    if (message.taskId !== '') {
      await this.found(message.taskId);
      const next = 'A task is one message and its answer: send the next one with contextId alone.';
      throw new UnsupportedOperationError(next);
    }
    const given: unknown = message.metadata?.['agent'] ?? metadata?.['agent'] ?? (tenant || undefined);
    if (given !== undefined && typeof given !== 'string')
      throw new RequestMalformedError('"agent" in the metadata must be the name of an agent.');
    const push = configuration?.taskPushNotificationConfig;
    const said = messageOf(message, given, push && pushFrom(push, 'default'));
    message.parts = [];
    params.message = undefined;
    params.metadata = undefined;
    return this.spoken(this.terms.tasks.begin(said, this.terms.by));
  }

  private found(id: string): Promise<TaskFacts> {
    return this.spoken(this.terms.tasks.find(id, this.terms.by.caller));
  }

  /** Turns errors into the protocol's own where it has one. */
  private async spoken<Result>(work: Promise<Result>): Promise<Result> {
    try {
      return await work;
    } catch (error) {
      if (!(error instanceof GatewayError)) {
        this.hasFailed = true;
        this.terms.unforeseen(error);
        // Its own text may come from the database.
        throw new Error('Something unexpected went wrong. Please report when it did.');
      }
      if (error.status === 404) throw new TaskNotFoundError(error.message);
      if (error.status === 400) throw new RequestMalformedError(inTheirWords(error));
      this.refusal = error;
      throw error;
    }
  }
}

/** The message in the protocol's terms, which call a cursor a page token. */
function inTheirWords({ message, details }: GatewayError): string {
  if (details?.fields?.[0]?.path !== 'cursor') return message;
  return 'pageToken: is not the nextPageToken of a page of this list with these filters; begin without it';
}

function pageQuery({ pageSize = PAGE_SIZE, pageToken }: ListTasksRequest): PageQuery {
  if (!Number.isInteger(pageSize) || pageSize < 1 || pageSize > MAX_PAGE_SIZE)
    throw new RequestMalformedError(`pageSize: must be 1 to ${MAX_PAGE_SIZE}`);
  return { limit: pageSize, ...(pageToken !== '' && { cursor: pageToken }) };
}

function taskFilter(params: ListTasksRequest, tenant: string | undefined): TaskFilter {
  const after = params.statusTimestampAfter || undefined;
  const since = after === undefined ? undefined : new Date(after);
  if (since !== undefined && !isOfFourDigits(since.getUTCFullYear()))
    throw new RequestMalformedError(
      'statusTimestampAfter: must be a time in the years 0 to 9999, as in 2026-01-31T12:00:00Z',
    );
  return {
    contextId: params.contextId || undefined,
    agent: params.tenant || tenant || undefined,
    statuses: statusesIn(params.status),
    since,
  };
}

/** What RFC 3339 can write. False for the year of a time that is none. */
function isOfFourDigits(year: number): boolean {
  return year >= 0 && year <= 9999;
}

function messageOf(message: Message, agent: string | undefined, push: NewTaskHook | undefined): AgentMessage {
  const { messageId, contextId } = message;
  if (messageId === '') throw new RequestMalformedError('messageId: must not be empty');
  return {
    ...{ messageId, ...saidParts(message), agent, push },
    contextId: contextId === '' ? undefined : contextId,
  };
}
