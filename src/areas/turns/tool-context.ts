import { actingAs, type Caller } from '../../platform/tokens/caller.js';
import type { ToolContext } from '../tools/tools.api.js';

/** For whom, and under which rules, tools run in a turn that this caller begins. */
export function toolContext(
  session: Pick<ToolContext, 'sessionId' | 'channel' | 'userId'> & { readonly agent: string },
  caller: Caller,
): ToolContext {
  const { sessionId, channel, agent, userId } = session;
  return {
    sessionId,
    channel,
    agent,
    userId,
    ...actingAs(caller, userId),
    token: { id: caller.tokenId, name: caller.tokenName },
    isFromChannel: caller.channel === channel,
  };
}
