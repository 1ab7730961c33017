import type { OutboundClient } from '../../../platform/outbound/outbound-client.js';
import type { Environment } from '../../../platform/settings/environment.js';
import type { ChannelSettings } from '../../../platform/settings/sections/channels.section.js';
import { ChannelRefused } from '../channel-failures.js';

/** What an adapter is made of. */
export interface AdapterParts {
  readonly name: string;
  readonly settings: ChannelSettings;
  readonly environment: Environment;
  /** The only way out. */
  readonly outbound: OutboundClient;
}

/** A credential from the settings or from the variable that they name. Throws `ChannelRefused` when it is not there. */
export function credential(value: string, variable: string, environment: Environment): string {
  const found = value !== '' ? value : (environment.lookup(variable) ?? '');
  if (found.trim() === '') throw new ChannelRefused(`the variable ${variable} is not set`);
  return found.trim();
}
