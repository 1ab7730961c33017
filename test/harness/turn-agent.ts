import type { ModelHealth } from '../../src/areas/models/model-health.service.js';
import type { ModelProvider } from '../../src/areas/models/model-provider.port.js';
import type { TurnFailovers } from '../../src/areas/turns/rounds/turn-failovers.js';
import type { TurnAgent } from '../../src/areas/turns/turn.js';
import { agentSettings } from '../../src/platform/settings/agent-settings.js';
import { type GatewaySettings, settingsSchema } from '../../src/platform/settings/settings.schema.js';

/** The agent `default` of these settings, with one model. */
export function turnAgent(
  speaker: ModelProvider,
  model = speaker.defaultModel,
  settings: GatewaySettings = settingsSchema.parse({}),
): TurnAgent {
  const own = agentSettings(settings, 'default');
  if (own === undefined) throw new Error('There is no default agent.');
  return { settings: own, chain: [{ provider: 'default', model, speaker, label: model }] };
}

/** A model health that remembers nothing. */
export const forgetfulHealth = {
  inOrder: (chain: unknown) => chain,
  failed: () => undefined,
  answered: () => undefined,
  refusedMedia: () => undefined,
} as unknown as ModelHealth;

/** Does not record failovers. */
export const noFailovers = { note: () => undefined } as unknown as TurnFailovers;
