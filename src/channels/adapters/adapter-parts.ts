import type { Environment } from '../../config/environment.js';
import type { ChannelSettings } from '../../config/sections/channels.section.js';
import type { OutboundClient } from '../../outbound/outbound-client.js';
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
