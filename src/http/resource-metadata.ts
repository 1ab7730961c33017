import { withoutEndSlashes } from '../common/text/without-end-slashes.js';
import type { GatewaySettings } from '../platform/settings/settings.schema.js';
import type { GatewayRequest } from './gateway-request.js';

/** Where the metadata of a protected resource is (RFC 9728, 3.1). */
export const RESOURCE_METADATA = '.well-known/oauth-protected-resource';

/** A name or an address, with or without a port (RFC 3986, 3.2.2). */
const HOST = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d+)?$/i;

/** The URL under which the caller reaches this gateway: the configured one, else that of the request. */
export function publicUrl({ gateway }: GatewaySettings, { headers: { host = '' } }: GatewayRequest): string {
  if (gateway.public_url !== '') return withoutEndSlashes(gateway.public_url);
  return `http://${HOST.test(host) ? host : 'localhost'}`;
}

/** Whether clients may get a token at an issuer by themselves. */
export function hasIssuers({ auth }: GatewaySettings): boolean {
  return Object.keys(auth.jwt).length > 0;
}

/** What a 401 of the MCP endpoint adds to its challenge, so that clients find the issuer (RFC 9728, 5.1). */
export function metadataChallenge(settings: GatewaySettings, request: GatewayRequest): string {
  if (request.face !== 'mcp' || !hasIssuers(settings)) return '';
  return `, resource_metadata="${publicUrl(settings, request)}/${RESOURCE_METADATA}/mcp"`;
}
