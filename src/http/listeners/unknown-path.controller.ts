import { All, Controller, Injectable, Req } from '@nestjs/common';
import { MethodNotAllowed, NotFound } from '../../common/errors/gateway-error.js';
import type { GatewayRequest } from '../gateway-request.js';
import { AnyToken } from '../guards/access.decorator.js';
import { ADMIN_PREFIX } from '../profiles/faces.js';
import type { ListenerId } from '../profiles/profile.js';
import { RouteTable } from '../route-table.js';
import type { ListenerPorts } from './profile-listeners.js';

/** The ports on which this process listens, once they are open: with port 0 the settings do not say. */
@Injectable()
export class OpenPorts {
  private ports: ListenerPorts = {};

  opened(ports: ListenerPorts): void {
    this.ports = ports;
  }

  of(listener: ListenerId): number | undefined {
    return this.ports[listener];
  }
}

/** Serves paths without a route of their own, so that they are authenticated, counted and enveloped too. */
@Controller({ version: ['a', 'b'] })
export class UnknownPathController {
  constructor(
    private readonly routes: RouteTable,
    private readonly ports: OpenPorts,
  ) {}

  @All('{*path}')
  @AnyToken()
  refuse(@Req() request: GatewayRequest): never {
    const allowed = this.routes.methodsFor(request.profile, request.path).join(', ');
    if (allowed === '') throw new NotFound(this.whereItIs(request));
    throw new MethodNotAllowed(`This path answers only to ${allowed}.`, { headers: { Allow: allowed } });
  }

  /** Most often the client has the right path and the other profile's port. */
  private whereItIs({ profile, face, path }: GatewayRequest): string {
    if (face === 'admin')
      return `There is no such path here. GET /${ADMIN_PREFIX}/openapi.json lists what there is.`;
    if (face !== undefined) return 'There is no such path here; gateway.faces decides what is served at all.';
    const other = profile === 'a' ? 'b' : 'a';
    const port = this.ports.of(other);
    if (port === undefined || this.routes.methodsFor(other, path).length === 0)
      return 'There is no such path here. GET /openapi.json lists what there is.';
    return `There is no such path in Profile ${profile.toUpperCase()}, which this port serves. It belongs to Profile ${other.toUpperCase()}, on port ${port}.`;
  }
}
