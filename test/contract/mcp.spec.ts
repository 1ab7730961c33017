import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { callTool, McpBench, published, type ServerB, scripted, serverB } from '../harness/mcp.js';

let bench: McpBench;
let gateway: TestGateway;
beforeAll(async () => {
  const crash = { ...scripted('contract-crash', 'crash'), startup_timeout_ms: 5000 };
  const off = { ...scripted('contract-off'), enabled: false };
  bench = await McpBench.make({ memory: published('memory'), crash, off });
  gateway = await startTestGateway({ env: bench.env });
  await eventually(async () => expect((await serverB(gateway, 'memory'))?.status).toBe('connected'));
});
afterAll(async () => {
  await gateway.stop();
  await bench.clear();
});

describe('4.2 | GET | /mcp | none | 200; object with servers (array)', () => {
  test('a connected server has its name, transport, status, tools and the time since when', async () => {
    const { status, body } = await gateway.b.get<{ servers: ServerB[] }>('/mcp');
    expect(status).toBe(200);
    expect(body.servers.find(({ name }) => name === 'memory')).toEqual({
      name: 'memory',
      transport: 'stdio',
      status: 'connected',
      tools: expect.arrayContaining(['create_entities', 'read_graph']) as string[],
      connected_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string,
    });
  });

  test('a server that cannot be connected to is reconnecting, without a time and without tools', async () => {
    await eventually(async () =>
      expect(await serverB(gateway, 'crash')).toEqual({
        name: 'crash',
        transport: 'stdio',
        status: 'reconnecting',
        tools: [],
        error: expect.stringContaining('it exited with code 3') as string,
      }),
    );
  });

  test('a server that is not enabled is not there', async () => {
    expect(await serverB(gateway, 'off')).toBeUndefined();
  });
});

describe('4.1 | GET | /mcp/servers | none | 200; object with servers (array)', () => {
  test('an item has name, status and tools, in the words of Profile A', async () => {
    const { status, body } = await gateway.a.get<{ servers: unknown[] }>('/mcp/servers');
    expect(status).toBe(200);
    expect(body.servers).toEqual([
      { name: 'memory', status: 'running', tools: expect.arrayContaining(['read_graph']) as string[] },
      {
        ...{ name: 'crash', status: 'reconnecting', tools: [] },
        error: 'it exited with code 3; its last output: cannot find the configuration of the mark',
      },
    ]);
  });
});

describe('4.1 | GET | /mcp/tools | none | lists all available MCP tools; response not shown', () => {
  test('every tool has the name that models see, its server, its own name, description and schema', async () => {
    const { status, body } = await gateway.a.get<{ tools: Record<string, unknown>[]; total: number }>(
      '/mcp/tools',
    );
    expect(status).toBe(200);
    expect(body.total).toBe(body.tools.length);
    const servers = await gateway.a.get<{ servers: { name: string; tools: string[] }[] }>('/mcp/servers');
    const all = servers.body.servers.flatMap(({ name, tools }) => tools.map((tool) => `${name} ${tool}`));
    expect(body.tools.map(({ server, tool }) => `${String(server)} ${String(tool)}`).sort()).toEqual(
      all.sort(),
    );
    expect(body.tools.find(({ tool }) => tool === 'read_graph')).toEqual({
      name: 'memory__read_graph',
      server: 'memory',
      tool: 'read_graph',
      description: expect.stringContaining('knowledge graph') as string,
      input_schema: expect.objectContaining({ type: 'object' }) as object,
    });
  });
});

describe('4.2 | POST | /mcp/:name/reconnect | none | 200; name, status', () => {
  test('it answers at once that the server is reconnecting, and then it is connected again', async () => {
    const before = await serverB(gateway, 'memory');
    const { status, body } = await gateway.b.post('/mcp/memory/reconnect');
    expect([status, body]).toEqual([200, { name: 'memory', status: 'reconnecting' }]);
    expect((await serverB(gateway, 'memory'))?.status).toBe('reconnecting');
    await eventually(async () => {
      const after = await serverB(gateway, 'memory');
      expect(after?.status).toBe('connected');
      expect(after?.connected_at).not.toBe(before?.connected_at);
    });
    expect((await callTool(gateway, 'memory__read_graph', {})).status).toBe('success');
  });

  test('an unknown name is 404', async () => {
    expect((await gateway.b.post('/mcp/nobody/reconnect')).status).toBe(404);
  });
});

test('3 | any MCP state | POST mcp/:name/reconnect (B) | server exists | reconnecting | 200 with name and status', async () => {
  for (const [name, before] of [
    ['memory', 'connected'],
    ['crash', 'reconnecting'],
  ] as const) {
    await eventually(async () => expect((await serverB(gateway, name))?.status).toBe(before));
    const { status, body } = await gateway.b.post(`/mcp/${name}/reconnect`);
    expect([status, body]).toEqual([200, { name, status: 'reconnecting' }]);
    expect((await serverB(gateway, name))?.status).toBe('reconnecting');
  }
});

test('3 | MCP server | running (Profile A), connected, reconnecting (Profile B)', async () => {
  await eventually(async () => expect((await serverB(gateway, 'memory'))?.status).toBe('connected'));
  const words = async (profile: 'a' | 'b', path: string) => {
    const { body } = await gateway[profile].get<{ servers: { name: string; status: string }[] }>(path);
    return body.servers.map(({ name, status }) => [name, status]);
  };
  expect(await words('a', '/mcp/servers')).toEqual([
    ['memory', 'running'],
    ['crash', 'reconnecting'],
  ]);
  expect(await words('b', '/mcp')).toEqual([
    ['memory', 'connected'],
    ['crash', 'reconnecting'],
  ]);
});

describe('Events (docs/specification/silences.md, Webhooks): mcp.connected and mcp.disconnected', () => {
  test('a webhook gets an event when a server is lost and when it is back', async () => {
    const hook = { url: 'http://127.0.0.1:18999/hook', events: ['mcp.*'] };
    expect((await gateway.b.post('/hooks', hook)).status).toBe(201);
    await gateway.b.post('/mcp/memory/reconnect');
    await eventually(async () => {
      const rows = await gateway.database.query<{ name: string; data: { name: string } }>(
        'SELECT name, data FROM events ORDER BY id',
      );
      expect(rows.map(({ name, data }) => [name, data.name])).toEqual([
        ['mcp.disconnected', 'memory'],
        ['mcp.connected', 'memory'],
      ]);
    });
  });
});

describe('status (docs/specification/silences.md, Status): degraded while a configured MCP server is failing', () => {
  test('both profiles say degraded, and stay ready', async () => {
    await eventually(async () => {
      const a = await gateway.a.get<{ status: string }>('/health');
      expect([a.status, a.body.status]).toEqual([200, 'degraded']);
    });
    const b = await gateway.b.get<{ status: string }>('/status');
    expect([b.status, b.body.status]).toEqual([200, 'degraded']);
    expect((await gateway.b.get('/status/health')).body).toEqual({ healthy: true });
  });

  test('what ended the crashing server is in the log, with its last words', async () => {
    await eventually(() => {
      const line = gateway.logLines.find(
        (text) => text.includes('"mcp::crash"') && text.includes('exited with code 3'),
      );
      expect(line).toContain('cannot find the configuration of the mark');
    });
  });
});
