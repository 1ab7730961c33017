import { Forbidden } from '../../common/errors/gateway-error.js';
import type { AgentSettings } from '../settings/agent-settings.js';
import { actingUser, type Caller } from './caller.js';

const ROLE = 'role:';

/**
 * Throws `AgentNotAllowed` when the caller's token is for other agents, or when the agent's users include neither the
 * user for whom the gateway can vouch nor one of the caller's roles.
 */
export function refuseAgent(
  { name, users }: Pick<AgentSettings, 'name' | 'users'>,
  caller: Caller,
  sessionUserId: string,
): void {
  refuseForeignAgent(name, caller);
  if (users.includes('*')) return;
  const user = actingUser(caller, sessionUserId);
  // A user whose id merely looks like a role does not have that role.
  if (!user.startsWith(ROLE) && users.includes(user)) return;
  if (caller.roles?.some((role) => users.includes(`${ROLE}${role}`)) === true) return;
  throw new AgentNotAllowed(`You may not talk to the agent "${name}": it has other users.`);
}

/** Throws `AgentNotAllowed` when the caller's token is for other agents. */
export function refuseForeignAgent(name: string, { agents }: Pick<Caller, 'agents'>): void {
  if (agents === undefined || agents.includes(name)) return;
  throw new AgentNotAllowed(`This access token may only use the agents ${agents.join(', ')}.`);
}

/**
 * Throws `AgentNotAllowed` for a caller who may use only some agents, for something that concerns all of them; `what`
 * says what.
 */
export function refuseSomeAgents(what: string, { agents }: Pick<Caller, 'agents'>): void {
  if (agents === undefined) return;
  throw new AgentNotAllowed(
    `This access token may only use the agents ${agents.join(', ')}, and ${what} of all of them. Ask for a token for all agents.`,
  );
}

export class AgentNotAllowed extends Forbidden {
  constructor(sentence: string) {
    super(sentence, { details: { reason: 'agent_not_allowed' } });
  }
}
