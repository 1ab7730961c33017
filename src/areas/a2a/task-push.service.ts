import { Injectable } from '@nestjs/common';
import type { Caller } from '../../platform/tokens/caller.js';
import { type NewTaskHook, type TaskHook, TaskHooks } from '../hooks/hooks.api.js';
import { TurnRecords } from '../live/live.api.js';
import { SessionNotFound } from '../turns/turns.api.js';
import type { TaskFacts } from './task-views.js';

/** Which other agents are told of a task that the caller may see. */
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
