import { Injectable } from '@nestjs/common';
import type { Together } from '../database/sql.js';
import { isSubscribable } from '../events/event-catalogue.js';
import { isId } from '../ids/typeid.js';
import type { Caller } from '../tokens/caller.js';
import { Deliverer } from './deliverer.service.js';
import type { Hook } from './hook.js';
import { HookStore } from './hook.store.js';
import { HookUrlCheck } from './hook-url-check.js';
import { BadHookSecret, HookNotFound, TooManyHooks, UnknownEvent } from './hooks.errors.js';
import { signingKey } from './webhook-secret.js';

const MOST_HOOKS = 100;

export interface HookWish {
  readonly url: string;
  readonly events: readonly string[];
  readonly secret?: string | undefined;
}

/** Webhooks as callers manage them (specification 2.4). A token bound to a user has its own, about that user only. */
@Injectable()
export class HooksService {
  constructor(
    private readonly store: HookStore,
    private readonly urls: HookUrlCheck,
    private readonly deliverer: Deliverer,
  ) {}

  /**
   * Throws `BadHookUrl`, `UnknownEvent`, `BadHookSecret` and, for the 101st hook, `TooManyHooks`. `together` is
   * committed with the hook, or neither.
   */
  async register(
    { url, events, secret }: HookWish,
    caller: Caller,
    together?: Together<Hook>,
  ): Promise<Hook> {
    for (const [index, name] of events.entries()) if (!isSubscribable(name)) throw new UnknownEvent(index);
    if (secret !== undefined && signingKey(secret) === undefined) {
      throw new BadHookSecret('must be base64 with padding behind whsec_, or not start with whsec_');
    }
    await this.urls.check(url);
    const subscribed = [...new Set(events)];
    const hook = await this.store.insert(
      { url, events: subscribed, secret: secret ?? null, userId: caller.boundUserId },
      MOST_HOOKS,
      together,
    );
    if (hook === undefined) throw new TooManyHooks(MOST_HOOKS);
    return hook;
  }

  list(caller: Caller): Promise<Hook[]> {
    return this.store.list(caller.boundUserId);
  }

  /** Throws `HookNotFound` also for a hook that this caller may not see. */
  async remove(id: string, caller: Caller): Promise<void> {
    const isGone = isId('hook', id) && (await this.store.remove(id, caller.boundUserId));
    if (!isGone) throw new HookNotFound();
    this.deliverer.forget(id);
  }
}
