import { StreamResponse } from '@a2a-js/sdk';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { Caller } from '../../platform/tokens/caller.js';
import {
  type NewTaskHook,
  type TaskChange,
  type TaskHook,
  TaskHooks,
  type TaskNotification,
  TaskNotifications,
} from '../hooks/hooks.api.js';
import { TurnRecords } from '../live/live.api.js';
import { SessionNotFound, type TurnResult } from '../turns/turns.api.js';
import { pushHeaders } from './push-configs.js';
import { isOver, presentStatus, presentTask, type TaskFacts } from './task-views.js';

/** Which other agents are notified of a task that the caller may see. */
@Injectable()
export class TaskPush {
  constructor(
    private readonly hooks: TaskHooks,
    private readonly records: TurnRecords,
  ) {}

  /** Throws what `TaskHooks.put` throws. */
  async put(task: TaskFacts, hook: NewTaskHook, maker: Caller): Promise<void> {
    const messageId = await this.messageOf(task);
    await this.hooks.put({ messageId, turnId: task.taskId, hook, maker });
  }

  async list(task: TaskFacts): Promise<TaskHook[]> {
    return this.hooks.list(await this.messageOf(task));
  }

  async find(task: TaskFacts, configId: string): Promise<TaskHook | undefined> {
    return (await this.list(task)).find((hook) => hook.configId === configId);
  }

  /** The same when there is none. */
  async remove(task: TaskFacts, configId: string): Promise<void> {
    await this.hooks.remove(await this.messageOf(task), configId);
  }

  private async messageOf({ taskId }: TaskFacts): Promise<string> {
    const record = await this.records.find(taskId);
    if (record === undefined) throw new SessionNotFound();
    return record.userMessageId;
  }
}

const CONTENT_TYPE = 'application/a2a+json';

/** The content of push notifications: each new state, and for a finished task all of it, with its answer. */
@Injectable()
export class TaskNotices implements OnModuleInit {
  constructor(
    private readonly notifications: TaskNotifications,
    private readonly records: TurnRecords,
  ) {}

  onModuleInit(): void {
    this.notifications.writtenBy((change, secret) => this.write(change, secret));
  }

  private async write(
    { turnId, sessionId, status, at }: TaskChange,
    secret?: string,
  ): Promise<TaskNotification> {
    const task: TaskFacts = {
      ...{ taskId: turnId, contextId: sessionId, status: status as TurnResult['status'] },
      ...{ content: null, problem: null, at },
    };
    const said = isOver(task) ? await this.whole(task) : presentStatus(task);
    return {
      body: JSON.stringify(StreamResponse.toJSON(said)),
      headers: { ...pushHeaders(secret), 'content-type': CONTENT_TYPE },
    };
  }

  /** The result of a task does not change again; when it is deleted, only its state can be sent. */
  private async whole(task: TaskFacts): Promise<StreamResponse> {
    const record = await this.records.find(task.taskId);
    if (record === undefined) return presentStatus(task);
    const [content, problem] = [record.answer?.content ?? null, record.error?.message ?? null];
    return { payload: { $case: 'task', value: presentTask({ ...task, content, problem }) } };
  }
}
