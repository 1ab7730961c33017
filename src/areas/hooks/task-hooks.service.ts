import { Injectable } from '@nestjs/common';
import { BadFields } from '../../common/errors/gateway-error.js';
import { EventSignal } from '../../platform/events/event.store.js';
import { AddressGuard } from '../../platform/outbound/address-guard.js';
import { Settings } from '../../platform/settings/settings.js';
import { shareOf } from '../../platform/tokens/token-shares.js';
import { Deliverer } from './deliverer.service.js';
import { MAX_TASK_HOOKS } from './hook-limits.js';
import { urlProblem } from './hook-url.js';
import { TooManyTaskHooks } from './hooks.errors.js';
import type { TaskHook, TaskHookTerms } from './task-hook.js';
import { TaskHookStore } from './task-hook.store.js';

const MAX_OF_A_TASK = 10;
const WHAT_IS_FULL = {
  all: `There are ${MAX_TASK_HOOKS} push notifications for tasks that are not over, which is the most. Wait until some are.`,
  task: `This task has ${MAX_OF_A_TASK} push notifications, which is the most. Delete one first.`,
  share:
    'This API token has as many push notifications for tasks that are not over as it may (limits.task_hooks_per_api_token). Delete one, or wait until a task is over.',
};

/**
 * Notifications about single tasks, sent by the deliverer of webhooks. Callers that may see a task may see and change
 * who is notified of it.
 */
@Injectable()
export class TaskHooks {
  constructor(
    private readonly store: TaskHookStore,
    private readonly guard: AddressGuard,
    private readonly deliverer: Deliverer,
    private readonly signal: EventSignal,
    private readonly settings: Settings,
  ) {}

  /**
   * Notifies of the task from now on, also of its beginning; of a task that is over, that it is. A hook of the same
   * name is replaced. Throws `BadFields` for a URL that is not allowed, `TooManyTaskHooks`, `TokenRevoked`; nothing has
   * changed then.
   */
  async put(terms: TaskHookTerms): Promise<void> {
    const problem = await urlProblem(this.guard, terms.hook.url);
    BadFields.refuse(problem === undefined ? [] : [{ path: 'url', message: problem }]);
    const share = shareOf(this.settings.current.limits, terms.maker, 'task_hooks');
    const put = await this.store.put(terms, { all: MAX_TASK_HOOKS, share, task: MAX_OF_A_TASK });
    if (typeof put === 'string') throw new TooManyTaskHooks(WHAT_IS_FULL[put]);
    this.signal.queued(put);
  }

  /** Oldest first, at most 10. */
  list(messageId: string): Promise<TaskHook[]> {
    return this.store.list(messageId);
  }

  /** False when there is none. */
  async remove(messageId: string, configId: string): Promise<boolean> {
    return this.removed(await this.store.remove(messageId, configId));
  }

  /** The message began no task after all. */
  async forget(messageId: string): Promise<void> {
    this.removed(await this.store.remove(messageId, null));
  }

  private removed(hookIds: readonly string[]): boolean {
    for (const hookId of hookIds) this.deliverer.forget(hookId);
    return hookIds.length > 0;
  }
}
