import { Injectable } from '@nestjs/common';
import { agentNames, agentSettings } from '../../platform/settings/agent-settings.js';
import { Settings } from '../../platform/settings/settings.js';
import { type ModelCandidate, ModelChains, type ModelFailure, ModelHealth } from '../models/models.api.js';
import { type HealthPart, healthPart, namesOf } from './health-part.js';

interface FailedModel {
  readonly label: string;
  readonly failure: ModelFailure;
}

/** What to do about a model that fails, by the reason of its failure. */
const ADVICE: Readonly<Record<string, string>> = {
  provider_refused_credentials:
    'Give it a key that its provider accepts: the variable that "agent-gateway config show" names.',
  provider_unknown_model: 'Name a model that its provider has, in provider.model or in models of the agent.',
  provider_quota_used_up: 'Raise the quota at the provider, or add a model of another one to the agent.',
  provider_rate_limited: 'Raise the quota at the provider, or add a model of another one to the agent.',
  provider_unreachable:
    'Look at base_url, the network between and the proxy (outbound, HTTPS_PROXY), then at the status page of the provider.',
};
const OTHER_ADVICE = 'Look at the status page of the provider, and at its lines in "agent-gateway logs".';
const TRY = '"agent-gateway agents check" asks each model again.';

/** Whether agents get answers from their models, judged by the latest calls. */
@Injectable()
export class ProviderPart {
  constructor(
    private readonly settings: Settings,
    private readonly models: ModelChains,
    private readonly health: ModelHealth,
  ) {}

  look(): HealthPart {
    const { current } = this.settings;
    const chains = agentNames(current).flatMap(
      (name): { agent: string; chain: readonly ModelCandidate[] }[] => {
        const agent = agentSettings(current, name);
        return agent === undefined ? [] : [{ agent: name, chain: this.models.of(agent, null) }];
      },
    );
    const failing = chains.map(({ agent, chain }) => ({ agent, chain, failed: this.failedOf(chain) }));
    const failed = new Map(failing.flatMap((one) => one.failed.map((model) => [model.label, model])));
    if (failed.size > 0) {
      const unanswered = failing.filter(({ chain, failed: some }) => some.length === chain.length);
      return failedPart(
        [...failed.values()],
        unanswered.map(({ agent }) => agent),
      );
    }
    return this.wellPart();
  }

  private failedOf(chain: readonly ModelCandidate[]): FailedModel[] {
    return chain.flatMap((one) => {
      const failure = this.health.lastFailureOf(one);
      return failure === undefined ? [] : [{ label: one.label, failure }];
    });
  }

  private wellPart(): HealthPart {
    const { speaker, label } = this.models.default;
    if (speaker.name === 'offline' && this.settings.current.provider.kind === 'auto')
      return healthPart(
        'provider',
        'warning',
        'no model provider is configured: the built-in offline agent answers',
        'Set ANTHROPIC_API_KEY or OPENAI_API_KEY, or [provider] (docs/models.md).',
      );
    return healthPart(
      'provider',
      'ok',
      `${speaker.name} with ${label}; no model failed when it was last asked`,
    );
  }
}

function failedPart(failed: readonly FailedModel[], unanswered: readonly string[]): HealthPart {
  const named = namesOf(
    failed.map(({ label, failure: { reason, secsAgo } }) => `${label} (${reason}, ${ago(secsAgo)})`),
  );
  const advice = new Set(failed.map(({ failure: { reason } }) => ADVICE[reason] ?? OTHER_ADVICE));
  const nobody = unanswered.length === 0 ? '' : `; nothing else answers for ${namesOf(unanswered)}`;
  return healthPart(
    'provider',
    unanswered.length > 0 ? 'failing' : 'warning',
    `failed when last asked: ${named}${nobody}`,
    `${[...advice].join(' ')} ${TRY}`,
  );
}

function ago(secs: number): string {
  return secs < 120 ? `${Math.round(secs)} s ago` : `${Math.round(secs / 60)} min ago`;
}
