import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { HeldBytes } from '../../common/bytes/held-bytes.js';
import { BadRequest, type GatewayError, isRefusal } from '../../common/errors/gateway-error.js';
import { idFrom, isId } from '../../common/ids/typeid.js';
import type { PageQuery } from '../../http/paging/page-query.js';
import { isDuplicate } from '../../platform/database/database-failure.js';
import { type Caller, familyOf } from '../../platform/tokens/caller.js';
import { type NewTaskHook, TaskHooks } from '../hooks/hooks.api.js';
import { ResumedTurns, TurnRecords, Viewers, WatchedTurn } from '../live/live.api.js';
import { MessagesService, SessionsService } from '../sessions/sessions.api.js';
import {
  type LiveEvent,
  SessionNotFound,
  TURN_START,
  TurnHandedOver,
  TurnResults,
} from '../turns/turns.api.js';
import type { SaidParts } from './message-parts.js';
import { type TaskFilter, TaskListStore } from './task-list.store.js';
import { isOver, type TaskFacts } from './task-views.js';

/** The caller, and whether its token is still valid. */
export interface A2aCaller {
  readonly caller: Caller;
  readonly mayGoOn: () => Promise<boolean>;
  /** Counts what is fetched for its message, beside the body. */
  readonly held?: HeldBytes | undefined;
  /** Called with the answer of a turn that begins here at once. */
  readonly began: (answer: Promise<unknown>) => void;
}

export interface AgentMessage extends SaidParts {
  /** The other agent's id; the same one begins one task. */
  readonly messageId: string;
  readonly contextId: string | undefined;
  readonly agent: string | undefined;
  /** Who is notified of the task. */
  readonly push: NewTaskHook | undefined;
}

export interface TaskFactsPage {
  readonly tasks: readonly TaskFacts[];
  /** Null on the last page. */
  readonly next: string | null;
  readonly total: number;
}

/** How long a cancelled turn may take to end before it is shown as it is. */
const CANCEL_MS = 3000;
const POLL_MS = 100;

/**
 * Tasks of other agents. A task is a turn and a context a session, so that any replica knows them; a message is accepted like
 * one with `Prefer: respond-async`, and outlives its caller and its replica.
 */
@Injectable()
export class AgentTasks {
  constructor(
    private readonly sessions: SessionsService,
    private readonly messages: MessagesService,
    private readonly results: TurnResults,
    private readonly records: TurnRecords,
    private readonly resumed: ResumedTurns,
    private readonly viewers: Viewers,
    private readonly listed: TaskListStore,
    private readonly hooks: TaskHooks,
  ) {}

  /** Begins a task, or finds the task that this message began. Throws what sending a message throws. */
  async begin(message: AgentMessage, by: A2aCaller): Promise<TaskFacts> {
    const { caller } = by;
    const parts = JSON.stringify(['a2a', familyOf(caller), message.messageId]);
    const id = idFrom('msg', createHash('sha256').update(parts).digest());
    const before = await this.results.of(id);
    if (before === undefined) await this.entrust(id, message, by);
    const begun = before ?? (await this.results.of(id));
    if (begun === undefined) throw new SessionNotFound();
    return this.find(begun.turnId, caller);
  }

  /**
   * Stores who is to be notified first: nothing begins when that is refused, and nothing that begins is missed, also
   * when this replica dies in between and the message is sent again.
   */
  private async entrust(id: string, message: AgentMessage, by: A2aCaller): Promise<void> {
    const { push } = message;
    if (push === undefined) return this.accept(id, message, by);
    await this.hooks.put({ messageId: id, turnId: undefined, hook: push, maker: by.caller });
    try {
      await this.accept(id, message, by);
    } catch (error) {
      if (isRefusal(error)) await this.hooks.forget(id).catch(() => undefined);
      throw error;
    }
  }

  private async accept(id: string, message: AgentMessage, by: A2aCaller): Promise<void> {
    const { caller, held, began } = by;
    const sessionId = await this.sessionOf(message, caller);
    const { content, attachments } = message;
    try {
      const { answer } = await this.messages.accept(sessionId, { id, content, attachments, held }, caller);
      if (answer !== undefined) began(answer);
    } catch (error) {
      const isOther = isDuplicate(error);
      const isNew = message.contextId === undefined;
      if (isNew && (isOther || isRefusal(error))) await this.dropped(sessionId, caller);
      // The same message, sent twice at once: the other one began the task.
      if (!isOther) throw error;
    }
  }

  /** Throws `SessionNotFound` also for somebody else's task. */
  async find(taskId: string, caller: Caller): Promise<TaskFacts> {
    const found = isId('turn', taskId) ? await this.records.find(taskId) : undefined;
    if (found === undefined) throw new SessionNotFound();
    const { sessionId, userMessageId } = found;
    await this.sessions.find(sessionId, caller);
    const result = await this.results.of(userMessageId);
    if (result === undefined) throw new SessionNotFound();
    const { status, content } = result;
    // It may have ended between the two.
    const { error } = (found.status === 'over' ? found : await this.records.find(taskId)) ?? found;
    const problem = error?.message ?? null;
    const at = (await this.listed.changedAt(taskId)) ?? new Date();
    return { taskId, contextId: sessionId, status, content, problem, at };
  }

  /**
   * The tasks that this caller may see; those whose state changed last come first. Throws `BadFields` for a foreign
   * cursor.
   */
  async list(filter: TaskFilter, page: PageQuery, caller: Caller): Promise<TaskFactsPage> {
    const { items, nextCursor, total } = await this.listed.page(filter, page, caller);
    const tasks: TaskFacts[] = [];
    for (const { id: taskId, at } of items) {
      const record = await this.records.find(taskId);
      if (record === undefined) continue;
      const { sessionId: contextId, outcome: status, answer, error } = record;
      const problem = error?.message ?? null;
      tasks.push({ taskId, contextId, status, content: answer?.content ?? null, problem, at });
    }
    return { tasks, next: nextCursor, total };
  }

  /** The task, once it is over, or in its present state when this replica stops before. */
  async ended(task: TaskFacts, by: A2aCaller, gone: AbortSignal): Promise<TaskFacts> {
    if (isOver(task)) return task;
    const watched = await this.watch(task, by, () => undefined, gone);
    await watched.answer.catch(() => undefined);
    return this.settled(task, by.caller);
  }

  /** The events of a task from its beginning. Throws `TurnHandedOver` when this replica stops. */
  async *events(
    task: TaskFacts,
    by: A2aCaller,
    gone: AbortSignal,
  ): AsyncGenerator<LiveEvent, void, undefined> {
    const arrived: LiveEvent[] = [];
    let wake: () => void = () => undefined;
    const listener = (event: LiveEvent): void => {
      arrived.push(event);
      wake();
    };
    const watched = await this.watch(task, by, listener, gone);
    const end: { isReached: boolean; failure?: unknown } = { isReached: false };
    const reached = (failure?: unknown): void => {
      Object.assign(end, { isReached: true, failure });
      wake();
    };
    watched.answer.then(() => reached(), reached);
    try {
      for (;;) {
        for (let event = arrived.shift(); event !== undefined; event = arrived.shift()) yield event;
        if (end.isReached) break;
        await new Promise<void>((resolve) => (wake = resolve));
      }
      if (end.failure instanceof TurnHandedOver) throw end.failure;
    } finally {
      watched.end();
    }
  }

  /** Ends the task, wherever it runs or waits. Returns its state then. */
  async cancel(task: TaskFacts, caller: Caller): Promise<TaskFacts> {
    await this.messages.cancelTurn(task.contextId, task.taskId, caller);
    return this.settled(task, caller);
  }

  /** The result of a turn is stored a moment after it was said. */
  private async settled(task: TaskFacts, caller: Caller): Promise<TaskFacts> {
    const deadline = performance.now() + CANCEL_MS;
    let now = await this.find(task.taskId, caller);
    while (!isOver(now) && performance.now() < deadline) {
      await sleep(POLL_MS);
      now = await this.find(task.taskId, caller);
    }
    return now;
  }

  private async watch(
    { taskId }: TaskFacts,
    { caller, mayGoOn }: A2aCaller,
    listener: (event: LiveEvent) => void,
    gone: AbortSignal,
  ): Promise<WatchedTurn> {
    this.viewers.refuseTooMany(caller);
    const record = await this.records.find(taskId);
    if (record === undefined) throw new SessionNotFound();
    const watched = new WatchedTurn(listener);
    this.viewers.add(watched, caller, mayGoOn);
    gone.addEventListener('abort', () => watched.fail(new TurnHandedOver()), { once: true });
    if (gone.aborted) watched.fail(new TurnHandedOver());
    this.resumed
      .show(watched, { turnId: taskId, ...TURN_START }, record)
      .catch((error: unknown) => watched.fail(error as GatewayError));
    return watched;
  }

  /** Ends a session that was created for a message but did not get it. */
  private async dropped(sessionId: string, caller: Caller): Promise<void> {
    // The failure of the message matters more than an empty session that stays.
    await this.sessions.end(sessionId, caller).catch(() => undefined);
  }

  private async sessionOf({ contextId, agent }: AgentMessage, caller: Caller): Promise<string> {
    if (contextId === undefined) return (await this.sessions.create({ agent }, caller)).id;
    const session = await this.sessions.find(contextId, caller);
    if (agent === undefined || agent === session.agent) return session.id;
    throw new BadRequest(
      `This context is with the agent "${session.agent}". Leave out the context for a new one with "${agent.slice(0, 64)}".`,
    );
  }
}
