import { Injectable } from '@nestjs/common';
import { isAmong } from '../../common/text/name-pattern.js';
import { agentSettings, DEFAULT_AGENT } from '../../platform/settings/agent-settings.js';
import { Settings } from '../../platform/settings/settings.js';
import type { ToolContext } from './tool-catalog.port.js';

interface ToolRule {
  readonly allow: readonly string[];
  readonly deny: readonly string[];
}

/** The channel of everything that comes over REST: requests, WebSockets and accepted messages. */
const API = 'api';

/**
 * Which tools may run for whom, according to the current settings: every rule that applies to a turn must allow the
 * tool, including its agent's. A turn that came over REST obeys the rules of `api` and those of the channel that its
 * session names, because a caller chooses that channel freely.
 */
@Injectable()
export class ToolPolicy {
  constructor(private readonly settings: Settings) {}

  allows(
    name: string,
    {
      channel,
      agent = DEFAULT_AGENT,
      token,
      isFromChannel = false,
    }: Pick<ToolContext, 'channel' | 'agent' | 'token' | 'isFromChannel'>,
  ): boolean {
    const { current } = this.settings;
    const { channels, tokens } = current.tools;
    const own = agentSettings(current, agent);
    // Nobody knows what an agent may do that is no longer configured.
    if (own === undefined) return false;
    const rules = [
      own.tools,
      ruleOf(channels, channel),
      isFromChannel ? undefined : ruleOf(channels, API),
      ruleOf(tokens, token?.name),
      // A name may be given to another token one day; an id never is.
      ruleOf(tokens, token?.id),
    ];
    return rules.every((rule) => rule === undefined || permits(rule, name));
  }
}

function ruleOf(rules: Readonly<Record<string, ToolRule>>, key: string | undefined): ToolRule | undefined {
  return key !== undefined && Object.hasOwn(rules, key) ? rules[key] : undefined;
}

function permits({ allow, deny }: ToolRule, name: string): boolean {
  return isAmong(name, allow) && !isAmong(name, deny);
}
