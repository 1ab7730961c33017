import { JsonRpcTransportHandler } from '@a2a-js/sdk/server';
import { RouteTable } from '../../src/http/route-table.js';
import { SCOPES, type Scope } from '../../src/platform/tokens/scopes.js';
import { PROFILES } from '../contract/support/faces.js';
import { severalAtOnce } from '../contract/support/several-at-once.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';

/** Who may use which JSON-RPC route. A new route must be decided here. */
const ROUTES: Readonly<Record<string, Scope | 'open'>> = {
  'POST /mcp': 'sessions:write',
  'GET /mcp': 'sessions:write',
  'POST /a2a': 'sessions:write',
  'GET /.well-known/agent-card.json': 'open',
};

interface Call {
  /** Its name in the test: the method, and its arguments where they matter. */
  readonly name: string;
  readonly path: '/mcp' | '/a2a';
  readonly method: string;
  readonly params: object;
  readonly headers?: Readonly<Record<string, string>>;
  readonly isNotification?: true;
}

const TASK = `task_${'0'.repeat(26)}`;
const told = { taskId: TASK, id: 'x', url: 'https://example.com' };
/** Every method of A2A, with params that change nothing even for authorised callers. */
const A2A: Readonly<Record<string, object>> = {
  SendMessage: {},
  SendStreamingMessage: {},
  GetTask: { id: TASK },
  ListTasks: {},
  CancelTask: { id: TASK },
  SubscribeToTask: { id: TASK },
  CreateTaskPushNotificationConfig: told,
  GetTaskPushNotificationConfig: told,
  DeleteTaskPushNotificationConfig: told,
  ListTaskPushNotificationConfigs: { taskId: TASK },
  GetExtendedAgentCard: {},
};

const mcp = (name: string, method: string, params: object, more: Partial<Call> = {}): Call => ({
  ...{ name, path: '/mcp', method, params, ...more },
});
const client = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'test', version: '1' },
};
/** These require `sessions:read` in addition to the scope of the route, so no single scope is enough. */
const READS = Object.keys(A2A).filter((method) =>
  /^(Get|List|Subscribe).*Task|PushNotificationConfig/.test(method),
);
const CALLS: readonly Call[] = [
  mcp('initialize', 'initialize', client),
  mcp('notifications/initialized', 'notifications/initialized', {}, { isNotification: true }),
  mcp('notifications/cancelled', 'notifications/cancelled', { requestId: 1 }, { isNotification: true }),
  mcp('ping', 'ping', {}),
  mcp('tools/list', 'tools/list', {}),
  mcp('tools/call of an agent', 'tools/call', { name: 'ask_default', arguments: { message: ' ' } }),
  mcp('tools/call of a tool of the gateway', 'tools/call', { name: 'count', arguments: {} }),
  mcp('tools/call of nothing', 'tools/call', { name: 'nothing', arguments: {} }),
  mcp('a method that is none', 'resources/list', {}),
  ...Object.entries(A2A).map(([method, params]) => ({
    ...{ name: method, path: '/a2a' as const, method, params, headers: { 'a2a-version': '1.0' } },
  })),
];

let gateway: TestGateway;
let ran = 0;
const granted: [Scope, string][] = [];
beforeAll(async () => {
  gateway = await startTestGateway({ env: { GATEWAY__MCP_SERVER__EXPOSE_TOOLS: 'true' } });
  gateway.tools.register({
    ...{ name: 'count', description: 'Counts its calls', inputSchema: { type: 'object' } },
    run: () => {
      ran += 1;
      return Promise.resolve('counted');
    },
  });
  for (const scope of SCOPES) granted.push([scope, await gateway.mint({ scopes: [scope] })]);
});
afterAll(() => gateway.stop());

function send({ path, method, params, headers, isNotification }: Call, token: string): Promise<Response> {
  return fetch(new URL(path, gateway.b.base), {
    method: 'POST',
    headers: {
      ...{ 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      ...{ ...headers, authorization: `Bearer ${token}` },
    },
    body: JSON.stringify({ jsonrpc: '2.0', ...(isNotification !== true && { id: 1 }), method, params }),
  });
}

test('every route of these faces is decided about, on the ports of both profiles', () => {
  const all = gateway.started.app.get(RouteTable, { strict: false }).all();
  for (const profile of PROFILES) {
    const served = all.filter(
      ({ listener, path }) => listener === profile && /^\/(mcp|a2a|\.well-known\/agent)/.test(path),
    );
    const decided = served.map(({ method, path, access }) => [`${method} ${path}`, access.scope]);
    expect(Object.fromEntries(decided)).toEqual(ROUTES);
  }
});

test('every method that the SDK of A2A knows is tried', () => {
  const source = JsonRpcTransportHandler.prototype.handle.toString();
  const known = [...source.matchAll(/(?:case|method ===) "([A-Z]\w+)"/g)].map(([, method]) => method);
  expect([...new Set(known)].sort()).toEqual(Object.keys(A2A).sort());
});

test.each(CALLS.map((call) => [call.path, call.name, call] as const))(
  '%s %s with one scope alone: sessions:write is let in, unless the call reads and needs two, and every other is 403',
  async (_path, _name, call) => {
    ran = 0;
    const letIn: Scope[] = [];
    await severalAtOnce(granted, async ([scope, token]) => {
      const answer = await send(call, token);
      const text = await answer.text();
      expect(answer.status).toBeLessThan(500);
      if (answer.status !== 401 && answer.status !== 403) letIn.push(scope);
      else {
        const missing = scope === 'sessions:write' ? 'sessions:read' : 'sessions:write';
        expect([answer.status, text]).toEqual([403, expect.stringContaining(missing) as string]);
      }
    });
    expect(letIn).toEqual(READS.includes(call.method) ? [] : ['sessions:write']);
    expect(ran).toBe(call.name === 'tools/call of a tool of the gateway' ? 1 : 0);
  },
);

test('a call that was cut goes on with sessions:write alone', async () => {
  await severalAtOnce(granted, async ([scope, token]) => {
    const headers = { accept: 'text/event-stream', authorization: `Bearer ${token}`, 'last-event-id': '!!' };
    const { status } = await fetch(new URL('/mcp', gateway.b.base), { headers });
    expect([scope, status]).toEqual([scope, scope === 'sessions:write' ? 400 : 403]);
  });
});

test('none of these calls, refused or not, began a session', async () => {
  expect(await gateway.database.query('SELECT id FROM sessions')).toEqual([]);
});
