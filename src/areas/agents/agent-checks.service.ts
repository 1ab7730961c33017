import { Injectable } from '@nestjs/common';
import { BadRequest, GatewayError } from '../../common/errors/gateway-error.js';
import { AuditLog } from '../../platform/audit-log/audit-log.js';
import { Slots } from '../../platform/runtime/slots.js';
import { type AgentSettings, agentNames, agentSettings } from '../../platform/settings/agent-settings.js';
import { Settings } from '../../platform/settings/settings.js';
import { AgentNotAllowed, refuseAgent, refuseForeignAgent } from '../../platform/tokens/agent-access.js';
import type { Caller } from '../../platform/tokens/caller.js';
import { grants } from '../../platform/tokens/scopes.js';
import { type ModelCandidate, ModelChains } from '../models/models.api.js';
import { ModelProbe } from '../turns/turns.api.js';
import { AgentReferences } from './agent-references.service.js';

/** The result of asking one model. */
export interface ModelCheck {
  /** The name in answers. */
  readonly name: string;
  readonly status: 'answered' | 'failed' | 'not_asked';
  /** A fixed word, such as `provider_unreachable`, and a sentence; null when it answered. */
  readonly reason: string | null;
  readonly message: string | null;
  readonly latencyMs: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** In US dollars; null when the price is unknown. */
  readonly costUsd: number | null;
}

export interface AgentCheck {
  readonly name: string;
  /** Missing things that it names, a sentence for each. */
  readonly warnings: readonly string[];
  /** In the order in which they are asked; a model of several agents was asked once. */
  readonly models: readonly ModelCheck[];
}

export interface AgentsChecked {
  readonly agents: readonly AgentCheck[];
  /** Of all calls, in US dollars; null when nothing of it is priced. */
  readonly costUsd: number | null;
}

/** How many models one request may check. */
const MOST_MODELS = 64;
/** How many calls this process makes at once, over all requests. */
const MOST_AT_ONCE = 4;
/** Models that were not asked by then are left out, in milliseconds: clients wait for half a minute. */
const LONGEST_MS = 25_000;

/** Asks the models of agents for one token each, so that an operator sees which of them answer before a user does. */
@Injectable()
export class AgentChecks {
  private readonly slots = new Slots(MOST_AT_ONCE);

  constructor(
    private readonly models: ModelChains,
    private readonly probe: ModelProbe,
    private readonly references: AgentReferences,
    private readonly settings: Settings,
    private readonly audit: AuditLog,
  ) {}

  /**
   * @param names of the agents; by default all that the caller may use. Throws `AgentNotAllowed`, and `BadRequest` for
   * an unknown one.
   */
  async check(names: readonly string[] | undefined, caller: Caller): Promise<AgentsChecked> {
    const agents = this.agentsOf(names, caller);
    const chains = agents.map((agent) => ({ agent, chain: this.models.of(agent, null) }));
    const asked = new Map<string, { readonly candidate: ModelCandidate; readonly agent: string }>();
    for (const { agent, chain } of chains)
      for (const candidate of chain)
        if (!asked.has(candidate.label)) asked.set(candidate.label, { candidate, agent: agent.name });
    if (asked.size > MOST_MODELS) throw new TooManyModels(asked.size);
    const signal = AbortSignal.timeout(LONGEST_MS);
    const found = new Map(
      await Promise.all(
        [...asked].map(
          async ([label, { candidate, agent }]) =>
            [label, await this.slots.run(() => this.ask(candidate, agent, caller, signal))] as const,
        ),
      ),
    );
    const checked = {
      agents: chains.map(({ agent, chain }) => ({
        name: agent.name,
        warnings: this.references.missingOf(agent),
        models: [...new Set(chain.map(({ label }) => label))].flatMap((label) => found.get(label) ?? []),
      })),
      costUsd: sumOf([...found.values()]),
    };
    await this.record(names, [...found.values()], checked.costUsd);
    return checked;
  }

  private agentsOf(names: readonly string[] | undefined, caller: Caller): AgentSettings[] {
    const { current } = this.settings;
    const known = agentNames(current).flatMap((name) => agentSettings(current, name) ?? []);
    const sorted = (agents: AgentSettings[]): AgentSettings[] =>
      agents.sort((one, other) => (one.name < other.name ? -1 : 1));
    if (names === undefined) return sorted(known.filter((agent) => mayCheck(agent, caller)));
    return sorted(
      [...new Set(names)].map((name) => {
        // Checked before the lookup: such a caller does not learn which other agents there are.
        refuseForeignAgent(name, caller);
        const agent = known.find((one) => one.name === name);
        if (agent === undefined) throw new UnknownAgent(name);
        refuseOther(agent, caller);
        return agent;
      }),
    );
  }

  /** Never throws: a failure is the result that was asked for. */
  private async ask(
    candidate: ModelCandidate,
    agent: string,
    caller: Caller,
    signal: AbortSignal,
  ): Promise<ModelCheck> {
    const { label: name } = candidate;
    if (signal.aborted) return { ...UNKNOWN, name, ...NOT_ASKED };
    const startedAt = performance.now();
    const latencyMs = (): number => Math.round(performance.now() - startedAt);
    try {
      const { usage, costUsd } = await this.probe.ask(candidate, agent, caller, signal);
      return {
        ...{ name, status: 'answered', reason: null, message: null, latencyMs: latencyMs() },
        ...{ inputTokens: usage.input, outputTokens: usage.output, costUsd },
      };
    } catch (error) {
      return { ...UNKNOWN, name, latencyMs: latencyMs(), ...reasonOf(error) };
    }
  }

  private async record(
    names: readonly string[] | undefined,
    found: readonly ModelCheck[],
    costUsd: number | null,
  ): Promise<void> {
    const failed = found.filter(({ status }) => status !== 'answered').length;
    await this.audit.record({
      action: 'agent.checked',
      target: names === undefined ? 'all agents' : [...new Set(names)].join(', '),
      outcome: failed === 0 ? 'success' : 'error',
      details: { models: found.length, failed, cost_usd: costUsd },
    });
  }
}

/** Throws `AgentNotAllowed` for an agent of other agents' tokens or of other users. Operators who see all agents check all of them. */
function refuseOther(agent: AgentSettings, caller: Caller): void {
  if (grants(caller.scopes, 'agents:read')) refuseForeignAgent(agent.name, caller);
  else refuseAgent(agent, caller, caller.boundUserId ?? caller.tokenName);
}

function mayCheck(agent: AgentSettings, caller: Caller): boolean {
  try {
    refuseOther(agent, caller);
    return true;
  } catch (error) {
    if (error instanceof AgentNotAllowed) return false;
    throw error;
  }
}

const UNKNOWN = {
  status: 'failed',
  latencyMs: 0,
  inputTokens: 0,
  outputTokens: 0,
  costUsd: null,
} as const;
const NOT_ASKED = {
  status: 'not_asked',
  reason: 'check_timeout',
  message: 'The models before it took too long. Name fewer agents.',
} as const;

function reasonOf(error: unknown): Pick<ModelCheck, 'reason' | 'message'> {
  if (error instanceof GatewayError)
    return { reason: error.details?.reason ?? error.name, message: error.message };
  if (error instanceof Error && error.name === 'TimeoutError')
    return { reason: 'check_timeout', message: 'The model did not answer in time.' };
  return { reason: 'internal_error', message: 'The model could not be asked.' };
}

function sumOf(found: readonly ModelCheck[]): number | null {
  const priced = found.flatMap(({ costUsd }) => costUsd ?? []);
  return priced.length === 0 ? null : priced.reduce((sum, cost) => sum + cost, 0);
}

class UnknownAgent extends BadRequest {
  constructor(name: string) {
    super(`agents: "${name}" is not a configured agent.`, {
      details: { reason: 'unknown_agent' },
    });
  }
}

class TooManyModels extends BadRequest {
  constructor(count: number) {
    super(`These agents have ${count} models; at most ${MOST_MODELS} are asked at once. Name some agents.`, {
      details: { reason: 'too_many_models' },
    });
  }
}
