import type { GatewaySettings } from '../settings/settings.schema.js';

/** What `[auth.jwt.<name>]` says of one issuer. */
export type JwtIssuerSettings = GatewaySettings['auth']['jwt'][string];
export type RoleSettings = JwtIssuerSettings['roles'][string];
