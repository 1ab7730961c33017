import { Injectable, type OnModuleInit, RequestMethod, type Type } from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA, VERSION_METADATA } from '@nestjs/common/constants.js';
import { DiscoveryService, MetadataScanner } from '@nestjs/core';
import { BODY_LIMIT } from './body/takes-body.decorator.js';
import { ACCESS, type Access } from './guards/access.decorator.js';
import { refuseUnrecordedRoutes } from './idempotency/idempotency-key.decorator.js';
import { faceOf } from './profiles/faces.js';
import type { ListenerId } from './profiles/profile.js';

export interface Route {
  readonly listener: ListenerId;
  readonly method: string;
  /** With parameters as `:name`, without trailing slash: `/api/v1/sessions/:id`. */
  readonly path: string;
  readonly handler: string;
  readonly access: Access;
  /** Whether it reads a JSON body. */
  readonly takesBody: boolean;
}

/** Every route of the application, read from the decorators. A route without an access decorator stops the start. */
@Injectable()
export class RouteTable implements OnModuleInit {
  private routes: readonly Route[] = [];
  private readonly allowed = new Map<string, { pattern: RegExp; methods: Set<string> }>();

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly scanner: MetadataScanner,
  ) {}

  onModuleInit(): void {
    this.routes = this.discovery.getControllers().flatMap(({ metatype }) => this.routesOf(metatype as Type));
    for (const route of this.routes) if (!route.path.includes('*')) this.index(route);
  }

  all(): readonly Route[] {
    return this.routes;
  }

  /** The methods that this path has on this listener; empty for an unknown path. */
  methodsFor(listener: ListenerId, path: string): string[] {
    for (const [key, { pattern, methods }] of this.allowed) {
      if (key.startsWith(`${listener} `) && pattern.test(path)) return [...methods].sort();
    }
    return [];
  }

  private routesOf(controller: Type): Route[] {
    const base: unknown = Reflect.getMetadata(PATH_METADATA, controller);
    const listeners = [Reflect.getMetadata(VERSION_METADATA, controller)].flat() as ListenerId[];
    const prototype = controller.prototype as Record<string, object>;
    return this.scanner.getAllMethodNames(prototype).flatMap((name) => {
      const handler = prototype[name];
      const method: unknown = handler && Reflect.getMetadata(METHOD_METADATA, handler);
      if (handler === undefined || typeof method !== 'number') return [];
      const where = `${controller.name}.${name}`;
      const access = declaredAccess(controller, handler, where);
      if (faceOf(joined(String(base))) === 'admin') refuseUndecidedRoute(access, where);
      refuseUnrecordedRoutes(controller, name, handler);
      const takesBody = Reflect.hasMetadata(BODY_LIMIT, handler);
      const path = joined(String(base), String(Reflect.getMetadata(PATH_METADATA, handler)));
      return listeners.map((listener) => ({
        listener,
        method: RequestMethod[method] ?? '',
        path,
        handler: where,
        access,
        takesBody,
      }));
    });
  }

  private index(route: Route): void {
    const key = `${route.listener} ${route.path}`;
    const known = this.allowed.get(key) ?? { pattern: patternOf(route.path), methods: new Set<string>() };
    known.methods.add(route.method);
    if (route.method === 'GET') known.methods.add('HEAD');
    this.allowed.set(key, known);
  }
}

function declaredAccess(controller: Type, handler: object, where: string): Access {
  const access: unknown = Reflect.getMetadata(ACCESS, handler) ?? Reflect.getMetadata(ACCESS, controller);
  if (access !== undefined) return access as Access;
  throw new Error(`${where} does not say who may use it: add @RequireScope, @AnyToken or @Open.`);
}

/** A route of the operators' API says what callers see that are bound to a user. */
function refuseUndecidedRoute({ scope, boundCallers }: Access, where: string): void {
  if (scope === 'open' || boundCallers !== undefined) return;
  throw new Error(`${where} does not say whether bound callers may use it: take @AdminScope.`);
}

function joined(...parts: string[]): string {
  return `/${parts
    .flatMap((part) => part.split('/'))
    .filter(Boolean)
    .join('/')}`;
}

function patternOf(path: string): RegExp {
  const source = path.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/:\w+/g, '[^/]+');
  return new RegExp(`^${source}/?$`, 'i');
}
