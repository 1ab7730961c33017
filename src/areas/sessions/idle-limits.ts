import type { GatewaySettings } from '../../platform/settings/settings.schema.js';
import type { IdleLimits } from './session-status.js';

export function idleLimits(agent: GatewaySettings['agent']): IdleLimits {
  return { idleSecs: agent.session_idle_secs, timeoutSecs: agent.session_timeout_secs };
}
