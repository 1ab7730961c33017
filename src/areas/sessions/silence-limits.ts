import type { GatewaySettings } from '../../platform/settings/settings.schema.js';
import type { SilenceLimits } from './session-status.js';

export function silenceLimits(agent: GatewaySettings['agent']): SilenceLimits {
  return { idleSecs: agent.session_idle_secs, timeoutSecs: agent.session_timeout_secs };
}
