import { Controller, Get, Module, Post, Res, type Type } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import type { Response } from 'express';
import { type Access, Open, RequireScope } from '../../src/http/guards/access.decorator.js';
import type { ProfileId } from '../../src/http/profiles/profile.js';
import { type Route, RouteTable } from '../../src/http/route-table.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { ADMIN_ROUTES } from './admin-routes.js';
import { decidedScope, SPECIFICATION_ROUTES } from './specification-routes.js';

const PROFILES: readonly ProfileId[] = ['a', 'b'];

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.stop());

function served(profile: ProfileId): Route[] {
  const routes = gateway.started.app.get(RouteTable, { strict: false }).all();
  return routes.filter(({ listener, path }) => listener === profile && path.startsWith('/api/v1/'));
}

const name = ({ method, path }: { method: string; path: string }): string =>
  `${method} ${path.replace(/^\/api\/v1/, '')}`;

function decidedAccess(profile: ProfileId, route: Route): Pick<Access, 'scope' | 'tier'> {
  const scope = decidedScope(profile, route.method, route.path);
  const [area = '', right] = String(scope).split(':');
  return scope === 'open'
    ? { scope, tier: 'other' }
    : { scope, tier: decidedTier(area, right === 'read' ? 'read' : 'write') };
}

/** docs/specification/api.md, 8: reading sessions, writing sessions, writing the configuration, everything else. */
function decidedTier(area: string, right: 'read' | 'write'): Access['tier'] {
  if (area === 'sessions') return `sessions_${right}`;
  return area === 'config' && right === 'write' ? 'config_write' : 'other';
}

test('the endpoint tables have 23 rows in 4.1, and 22 in 4.2 beside the two messages of the extension', () => {
  expect(SPECIFICATION_ROUTES.a).toHaveLength(23);
  expect(SPECIFICATION_ROUTES.b).toHaveLength(24);
});

test.each(PROFILES)('Profile %s serves exactly the rows of its endpoint table', (profile) => {
  expect(served(profile).map(name).sort()).toEqual(SPECIFICATION_ROUTES[profile].map(name).sort());
});

test.each(PROFILES)('the routes of Profile %s read a body exactly where the table has one', (profile) => {
  const withBody = served(profile).filter(({ takesBody }) => takesBody);
  const decided = SPECIFICATION_ROUTES[profile].filter(({ body }) => body === true);
  expect(withBody.map(name).sort()).toEqual(decided.map(name).sort());
});

test.each(PROFILES)('every route of Profile %s declares the scope and the tier of its area', (profile) => {
  for (const route of served(profile)) {
    const { scope, tier } = route.access;
    expect([name(route), { scope, tier }]).toEqual([name(route), decidedAccess(profile, route)]);
  }
});

describe("the operators' API", () => {
  const below = (listener: ProfileId): Route[] => {
    const routes = gateway.started.app.get(RouteTable, { strict: false }).all();
    return routes.filter((one) => one.listener === listener && one.path.startsWith('/admin/v1/'));
  };
  const decided = ADMIN_ROUTES.map(
    ({ route, scope, tier = 'other', boundCallers = 'refused', body = false }) => ({
      ...{ route, scope, tier, body },
      ...(scope === 'open' ? {} : { boundCallers }),
    }),
  );

  test.each(PROFILES)('serves its routes on the port of Profile %s, each as it was decided', (profile) => {
    const found = below(profile).map(({ method, path, access, takesBody }) => ({
      route: `${method} ${path.replace('/admin/v1', '')}`,
      ...access,
      body: takesBody,
    }));
    const byRoute = (one: { route: string }, other: { route: string }) =>
      one.route.localeCompare(other.route);
    expect(found.sort(byRoute)).toEqual([...decided].sort(byRoute));
  });
});

test('a setting opens nothing but the metrics of Profile A', () => {
  const opened = PROFILES.flatMap((profile) => served(profile)).filter(({ access }) => access.openWhen);
  expect(opened.map(({ listener, path }) => `${listener} ${path}`)).toEqual(['a /api/v1/metrics']);
});

@Controller({ path: 'api/v1/forgotten', version: 'a' })
class ForgottenController {
  @Get()
  read(): string {
    return 'nobody said who may read this';
  }
}

@Controller({ path: 'api/v1/lonely', version: 'a' })
class LonelyController {
  @Post()
  @Open()
  answer(@Res() response: Response): void {
    response.json({ kept: 'by nobody' });
  }
}

@Controller({ path: 'admin/v1/undecided', version: ['a', 'b'] })
class UndecidedController {
  @Get()
  @RequireScope('status:read')
  read(): string {
    return 'nobody said what bound callers see';
  }
}

function starting(controller: Type): Promise<unknown> {
  @Module({ imports: [DiscoveryModule], controllers: [controller], providers: [RouteTable] })
  class OneRouteModule {}
  const module = Test.createTestingModule({ imports: [OneRouteModule] }).compile();
  return module.then((compiled) => compiled.init());
}

test('a route that does not say who may use it stops the start', async () => {
  await expect(starting(ForgottenController)).rejects.toThrow(
    'ForgottenController.read does not say who may use it: add @RequireScope, @AnyToken or @Open.',
  );
});

test("a route of the operators' API that does not say what bound callers see stops the start", async () => {
  await expect(starting(UndecidedController)).rejects.toThrow(
    'UndecidedController.read does not say whether bound callers may use it: take @AdminScope.',
  );
});

test('a POST whose answer cannot be stored for an Idempotency-Key stops the start', async () => {
  await expect(starting(LonelyController)).rejects.toThrow(
    'LonelyController.answer writes its response itself, so it cannot be stored for an Idempotency-Key: ' +
      'return it, use @Res({ passthrough: true }), or take the key with @IdempotencyKey().',
  );
});
