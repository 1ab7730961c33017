import { Injectable } from '@nestjs/common';
import { BadFields, type FieldProblem } from '../../common/errors/gateway-error.js';
import { isId } from '../../common/ids/typeid.js';
import { signingKey } from '../../common/text/webhook-secret.js';
import type { OnCommit } from '../../platform/database/sql.js';
import { EVENT_NAMES, isSubscribable } from '../../platform/events/event-catalogue.js';
import { AddressGuard } from '../../platform/outbound/address-guard.js';
import { Settings } from '../../platform/settings/settings.js';
import { refuseSomeAgents } from '../../platform/tokens/agent-access.js';
import type { Caller } from '../../platform/tokens/caller.js';
import { grants } from '../../platform/tokens/scopes.js';
import { shareOf } from '../../platform/tokens/token-shares.js';
import { Deliverer } from './deliverer.service.js';
import type { Hook } from './hook.js';
import { HookStore } from './hook.store.js';
import { MAX_HOOKS } from './hook-limits.js';
import { urlProblem } from './hook-url.js';
import { AuditNotReadable, HookNotFound, TooManyHooks, TooManyHooksOfToken } from './hooks.errors.js';

const BAD_SECRET = 'must be base64 with padding behind whsec_, or not start with whsec_';
const UNKNOWN_EVENT = `is not a known event; known: ${EVENT_NAMES.join(', ')}, and patterns such as session.* and *`;

export interface HookInput {
  readonly url: string;
  readonly events: readonly string[];
  readonly secret?: string | undefined;
}

/**
 * Webhooks as callers manage them (docs/specification/api.md, 2.4). A token bound to a user has its own, about that
 * user only. One that is for some agents gets `AgentNotAllowed`: a webhook is told of all of them.
 */
@Injectable()
export class HooksService {
  constructor(
    private readonly store: HookStore,
    private readonly guard: AddressGuard,
    private readonly deliverer: Deliverer,
    private readonly settings: Settings,
  ) {}

  /**
   * Throws `TokenRevoked`, `BadFields` with every problem, `AuditNotReadable`, `TooManyHooksOfToken` beyond the limit of the token, and
   * `TooManyHooks` for the 1001st hook of all. `onCommit` runs in the same transaction.
   */
  async register(input: HookInput, caller: Caller, onCommit?: OnCommit<Hook>): Promise<Hook> {
    refuseNarrowCaller(caller);
    BadFields.refuse(await this.problemsOf(input));
    if (input.events.some(isAudit) && !readsAudit(caller)) throw new AuditNotReadable();
    const { url, events, secret } = input;
    const subscribed = [...new Set(events)];
    const share = shareOf(this.settings.current.limits, caller, 'hooks');
    const hook = await this.store.insert(
      { url, events: subscribed, secret: secret ?? null, maker: caller },
      { most: MAX_HOOKS, share },
      onCommit,
    );
    if (hook === 'all') throw new TooManyHooks(MAX_HOOKS);
    if (hook === 'share') throw new TooManyHooksOfToken(share);
    return hook;
  }

  /** Every problem of the given fields; looks the host name of the URL up for at most a second. */
  async problemsOf({ url, events = [], secret }: Partial<HookInput>): Promise<readonly FieldProblem[]> {
    const atUrl = url === undefined ? undefined : await urlProblem(this.guard, url);
    const isUnsigned = secret === undefined || signingKey(secret) !== undefined;
    return [
      ...events.flatMap((name, index) => (isSubscribable(name) ? [] : unknownEvent(index))),
      ...(isUnsigned ? [] : [{ path: 'secret', message: BAD_SECRET }]),
      ...(atUrl === undefined ? [] : [{ path: 'url', message: atUrl }]),
    ];
  }

  async list(caller: Caller): Promise<Hook[]> {
    refuseNarrowCaller(caller);
    return this.store.list(caller.boundUserId);
  }

  /** Throws `HookNotFound`, also for a hook that this caller may not see. */
  async remove(id: string, caller: Caller): Promise<void> {
    refuseNarrowCaller(caller);
    const isGone = isId('hook', id) && (await this.store.remove(id, caller.boundUserId));
    if (!isGone) throw new HookNotFound();
    this.deliverer.forget(id);
  }
}

/** Events are of all agents, those of one user, too. */
function refuseNarrowCaller(caller: Caller): void {
  refuseSomeAgents('webhooks are told', caller);
}

function isAudit(event: string): boolean {
  return event.startsWith('audit.');
}

/** A token bound to a user gets the events of that user, and the audit is about none. */
function readsAudit({ scopes, boundUserId }: Caller): boolean {
  return boundUserId === null && grants(scopes, 'audit:read');
}

function unknownEvent(index: number): FieldProblem {
  return { path: `events.${index}`, message: UNKNOWN_EVENT };
}
