import { Forbidden } from '../../common/errors/gateway-error.js';
import type { GatewaySettings } from '../../platform/settings/settings.schema.js';
import type { Caller } from '../../platform/tokens/caller.js';
import { grants } from '../../platform/tokens/scopes.js';
import type { TokenInput } from '../../platform/tokens/tokens.service.js';

type ToolRules = GatewaySettings['tools']['tokens'];

/** What the caller may do, beyond what its token says. */
export interface HeldRights {
  readonly caller: Caller;
  /** When the caller's own token ends; null for never. */
  readonly expiresAt: Date | null;
  readonly toolRules: ToolRules;
  /** Whether another token has the wanted name, or had it. */
  readonly isNameKnown: boolean;
}

/** A token would have rights that its maker does not have. */
class MoreThanHeld extends Forbidden {
  constructor(sentence: string) {
    super(`Nobody gives more than they hold: ${sentence}`, { details: { reason: 'more_than_held' } });
  }
}

/**
 * Throws `MoreThanHeld` unless the caller has everything that the token would have: scopes, users, agents, tools and
 * time.
 */
export function refuseMoreThanHeld(wanted: TokenInput, held: HeldRights): void {
  refuseScopes(wanted, held);
  refuseUser(wanted, held);
  refuseAgents(wanted, held);
  refuseTools(wanted, held);
  refuseTime(wanted, held);
}

function refuseScopes({ scopes }: TokenInput, { caller }: HeldRights): void {
  const missing = scopes.filter((scope) =>
    scope === '*' ? !caller.scopes.includes('*') : !grants(caller.scopes, scope),
  );
  if (missing.length > 0) throw new MoreThanHeld(`this token lacks ${missing.join(', ')}.`);
}

/** A token that is bound to a user speaks for that user, and tools believe it. */
function refuseUser({ boundUserId, name }: TokenInput, { caller, isNameKnown }: HeldRights): void {
  // To tools, an unbound token is its name.
  const isAnothersName = boundUserId === null && name !== caller.tokenName && isNameKnown;
  if (isAnothersName && !grants(caller.scopes, 'users:act_as')) {
    throw new MoreThanHeld(
      'there is, or was, a token of this name, and tools would take the new one for it; that needs users:act_as.',
    );
  }
  if (boundUserId === caller.boundUserId) return;
  if (caller.boundUserId !== null) {
    throw new MoreThanHeld('this token is bound to a user, and so must be what it gives.');
  }
  const isOneself = boundUserId === caller.verifiedUserId;
  if (!isOneself && !grants(caller.scopes, 'users:act_as')) {
    throw new MoreThanHeld('a token that is bound to a user needs users:act_as, which this token lacks.');
  }
}

/** A token without a list of agents may use all of them. */
function refuseAgents({ agents: wanted }: TokenInput, { caller: { agents: held } }: HeldRights): void {
  if (held === undefined || wanted?.every((name) => held.includes(name)) === true) return;
  throw new MoreThanHeld(
    `this token may only use the agents ${held.join(', ')}, and the new one could use ${wanted?.join(', ') ?? 'all'}.`,
  );
}

/** Rules in the settings name a token by its name or id: those of the caller must apply to the new one as well. */
function refuseTools({ name }: TokenInput, { caller, toolRules }: HeldRights): void {
  const rulesOf = (keys: readonly string[]): string[] =>
    keys.filter((key) => Object.hasOwn(toolRules, key)).map((key) => JSON.stringify(toolRules[key]));
  const given = rulesOf([name]);
  const lost = rulesOf([caller.tokenName, caller.tokenId]).filter((rule) => !given.includes(rule));
  if (lost.length > 0) {
    throw new MoreThanHeld(
      'rules in tools.tokens say which tools this token may use, and the new one would have none of them. ' +
        'Let settings have the same rule for its name.',
    );
  }
}

function refuseTime({ expiresAt }: TokenInput, { expiresAt: heldUntil }: HeldRights): void {
  if (heldUntil === null || (expiresAt !== null && expiresAt <= heldUntil)) return;
  throw new MoreThanHeld(`this token ends at ${heldUntil.toISOString()}, and so must what it gives.`);
}
