import type { LoadedSettings } from '../../platform/settings/settings-loader.js';
import type { ServedGateway } from './served-gateway.js';

interface Facts {
  readonly loaded: LoadedSettings;
  readonly gateway: Pick<ServedGateway, 'ports'>;
}

/** URLs of the open ports as reachable on this machine; those of the profiles with their prefix. */
export function urlsOf({ loaded, gateway }: Facts): Partial<Record<'a' | 'b' | 'operations', string>> {
  const { host: bound, management_host: managementHost } = loaded.settings.gateway;
  const host = reachableHost(bound);
  const { a, b, operations } = gateway.ports;
  return {
    ...(a === undefined ? {} : { a: `http://${host}:${a}/api/v1` }),
    ...(b === undefined ? {} : { b: `http://${host}:${b}/api/v1` }),
    ...(operations === undefined
      ? {}
      : { operations: `http://${reachableHost(managementHost || bound)}:${operations}` }),
  };
}

/** The loopback address in place of one that means all interfaces; brackets around IPv6. */
function reachableHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}
