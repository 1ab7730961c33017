import { A2A_PROTOCOL_VERSION, type AgentCard, type AgentInterface, type AgentSkill } from '@a2a-js/sdk';
import { Injectable } from '@nestjs/common';
import { readBuildInfo } from '../../platform/lifecycle/build-info.js';
import { agentNames, agentSettings } from '../../platform/settings/agent-settings.js';
import { Settings } from '../../platform/settings/settings.js';
import { refuseAgent } from '../../platform/tokens/agent-access.js';
import type { Caller } from '../../platform/tokens/caller.js';

const TEXT = ['text/plain'];
/** Files of any type are passed on; the model decides what to do with them. */
const FILES = ['image/*', 'audio/*', 'video/*', 'application/*'];
const DESCRIPTION =
  'Agents behind one gateway. Each skill is an agent: name it as tenant, or as "agent" in the metadata of a message; without it the default one answers.';

/** What other companies' agents read of this gateway before they talk to it. */
@Injectable()
export class AgentCards {
  private readonly version = readBuildInfo().version;

  constructor(private readonly settings: Settings) {}

  /** Without a caller: the agents that are open to everybody. For a caller: those that it may talk to. */
  card(url: string, caller?: Caller): AgentCard {
    const names = agentNames(this.settings.current).filter((name) => this.isShown(name, caller));
    return {
      name: 'Agent Gateway',
      description: DESCRIPTION,
      version: this.version,
      provider: undefined,
      supportedInterfaces: [interfaceOf(url)],
      capabilities: { streaming: true, pushNotifications: true, extensions: [], extendedAgentCard: true },
      securitySchemes: { bearer: { scheme: BEARER } },
      securityRequirements: [{ schemes: { bearer: { list: [] } } }],
      defaultInputModes: [...TEXT, 'application/json', ...FILES],
      defaultOutputModes: TEXT,
      skills: names.map((name) => this.skillOf(name)),
      signatures: [],
    };
  }

  private isShown(name: string, caller: Caller | undefined): boolean {
    try {
      const agent = agentSettings(this.settings.current, name);
      if (agent === undefined) return false;
      if (caller === undefined) return agent.users.includes('*');
      refuseAgent(agent, caller, caller.boundUserId ?? caller.tokenName);
      return true;
    } catch {
      return false;
    }
  }

  private skillOf(name: string): AgentSkill {
    const described = agentSettings(this.settings.current, name)?.description ?? '';
    return {
      id: name,
      name,
      description: described === '' ? `The agent "${name}".` : described,
      tags: ['agent'],
      examples: [],
      inputModes: [],
      outputModes: [],
      securityRequirements: [],
    };
  }
}

const BEARER = {
  $case: 'httpAuthSecurityScheme' as const,
  value: {
    description: 'An API token of the gateway, or a JWT of an issuer that it trusts',
    scheme: 'Bearer',
    bearerFormat: 'agw_… or JWT',
  },
};

/**
 * One card for all agents: of several the SDK's client would take the last, and speak to that agent without being told.
 */
function interfaceOf(url: string): AgentInterface {
  return { url, tenant: '', protocolBinding: 'JSONRPC', protocolVersion: A2A_PROTOCOL_VERSION };
}
