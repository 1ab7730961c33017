import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { expectError } from './support/envelope.js';
import type { Wire } from './support/faces.js';

const MARKER = '***REDACTED***';

interface Patched {
  readonly updated: string[];
  readonly reload_required: boolean;
}
interface Reloaded {
  readonly reloaded: boolean;
  readonly changes: string[];
}

let gateway: TestGateway;
let folder: string;
let file: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'config-'));
  file = join(folder, 'gateway.toml');
  await writeFile(file, '[memory]\ntop_k = 7\n');
  gateway = await startTestGateway({ env: { GATEWAY_CONFIG: file, ANTHROPIC_API_KEY: '' } });
});
afterAll(async () => {
  await gateway.stop();
  await rm(folder, { recursive: true });
});

const shown = async () => (await gateway.b.get<Record<string, Wire>>('/config')).body;
const patch = (body: unknown, headers = {}) => gateway.b.patch<Patched>('/config', body, headers);

/** Sends a PATCH that must be refused, and checks that nothing changed. */
async function refused(body: Wire, status: 400 | 403 | 409, headers = {}) {
  const before = await shown();
  const answer = await patch(body, headers);
  const code = ({ 400: 'bad_request', 403: 'forbidden', 409: 'conflict' } as const)[status];
  const error = expectError('b', answer, status, code);
  expect(await shown()).toEqual(before);
  return error;
}

describe.each([
  [
    '4.1 | GET | /config | none | current runtime configuration with sensitive fields redacted; response shape not shown',
    'a',
  ],
  ['4.2 | GET | /config | none | 200; runtime configuration, secrets redacted', 'b'],
] as const)('%s', (_row, profile) => {
  const read = () => gateway[profile].get<Record<string, Wire>>('/config');

  test('200; the nested tree of what is in force, with its tag', async () => {
    const { status, body, headers } = await read();
    expect(status).toBe(200);
    expect(headers.get('etag')).toMatch(/^"[^"]+"$/);
    expect(body).toMatchObject({
      agent: { max_turns: 50, max_tool_calls_per_turn: 10, session_timeout_secs: 3600 },
      memory: { backend: 'postgres', top_k: 7 },
    });
  });

  test('a secret that is set reads as the redaction marker, one that is not reads as empty', async () => {
    const { body, text } = await read();
    expect(body).toMatchObject({ database: { url: MARKER }, provider: { api_key: '' } });
    expect(text).not.toContain(gateway.database.url);
  });

  test('what changes at run time is shown at once', async () => {
    expect((await patch({ 'memory.top_k': 9 })).status).toBe(200);
    expect((await read()).body['memory']).toMatchObject({ top_k: 9 });
    expect((await patch({ 'memory.top_k': null })).status).toBe(200);
  });
});

describe('the configuration in both profiles', () => {
  test('both show the same tree with the same tag', async () => {
    const [a, b] = await Promise.all([gateway.a.get<Wire>('/config'), gateway.b.get<Wire>('/config')]);
    expect(a.body).toEqual(b.body);
    expect(a.headers.get('etag')).toBe(b.headers.get('etag'));
  });

  test('reading needs config:read, changing and reloading config:write', async () => {
    const reader = await gateway.mint({ scopes: ['config:read'] });
    const stranger = await gateway.mint({ scopes: ['sessions:write'] });
    expect((await gateway.caller('a', reader).get('/config')).status).toBe(200);
    expectError('a', await gateway.caller('a', stranger).get('/config'), 403, 'forbidden');
    expectError('b', await gateway.caller('b', reader).patch('/config', {}), 403, 'forbidden');
    expectError('a', await gateway.caller('a', reader).post('/config/reload'), 403, 'forbidden');
    expectError('b', await gateway.caller('b', undefined).patch('/config', {}), 401, 'unauthorized');
  });

  test('PATCH /config is none of Profile A, POST /config/reload none of Profile B', async () => {
    expectError('a', await gateway.a.patch('/config', {}), 405, 'bad_request');
    expectError('b', await gateway.b.post('/config/reload'), 404, 'not_found');
  });
});

describe('4.2 | PATCH | /config | JSON object mapping dotted configuration key paths to new values | 200; object with updated (array of String, the keys applied) and reload_required (boolean)', () => {
  test('what is sent is in force at once, and nothing else moved', async () => {
    const before = await shown();
    const answer = await patch({ 'agent.max_turns': 20, 'gateway.trusted_proxies': ['10.0.0.0/8'] });
    expect(answer).toMatchObject({
      status: 200,
      body: { updated: ['agent.max_turns', 'gateway.trusted_proxies'], reload_required: false },
    });
    const { agent, gateway: listeners } = before;
    expect(await shown()).toEqual({
      ...before,
      agent: { ...agent, max_turns: 20 },
      gateway: { ...listeners, trusted_proxies: ['10.0.0.0/8'] },
    });
    expect(answer.headers.get('etag')).toBe((await gateway.b.get('/config')).headers.get('etag'));
  });

  test('an empty object is 200 with nothing updated', async () => {
    expect(await patch({})).toMatchObject({ status: 200, body: { updated: [], reload_required: false } });
  });

  test('an object for a section sets the keys in it; updated names them by their paths', async () => {
    const { body } = await patch({ agent: { max_turns: 21, on_busy: 'reject' }, 'memory.top_k': 3 });
    expect(body.updated).toEqual(['agent.max_turns', 'agent.on_busy', 'memory.top_k']);
    expect(await shown()).toMatchObject({
      agent: { max_turns: 21, on_busy: 'reject' },
      memory: { top_k: 3 },
    });
  });

  test('null gives keys back to the layers below, one by one or a section at once', async () => {
    await patch({ 'agent.max_turns': 22, 'agent.on_busy': 'reject', 'memory.top_k': 3 });
    expect((await patch({ 'memory.top_k': null, agent: null })).body.updated).toEqual([
      'memory.top_k',
      'agent',
    ]);
    expect(await shown()).toMatchObject({ agent: { max_turns: 50, on_busy: 'queue' }, memory: { top_k: 7 } });
  });

  test('reload_required is true for a key that needs a restart: stored and shown, and not lived by', async () => {
    expect((await patch({ 'agent.max_turns': 23, 'gateway.docs': false })).body.reload_required).toBe(true);
    expect(await shown()).toMatchObject({ gateway: { docs: false } });
    const docs = await fetch(`http://127.0.0.1:${gateway.started.ports.b}/openapi.json`);
    expect(docs.status).toBe(200);
    expect((await patch({ 'agent.max_turns': 24 })).body.reload_required).toBe(false);
    expect((await patch({ 'gateway.docs': true })).body.reload_required).toBe(false);
    expect((await patch({ 'gateway.docs': null })).body.reload_required).toBe(false);
  });

  test('one wrong key refuses all of them, and everything wrong is named', async () => {
    const error = await refused(
      { 'agent.max_turns': 0, 'agent.on_busy': 'drop', 'memory.top_k': 1, 'gateway.trusted_proxies': ['x'] },
      400,
    );
    expect(error.details?.fields?.map(({ path }) => path).sort()).toEqual([
      'agent.max_turns',
      'agent.on_busy',
      'gateway.trusted_proxies',
    ]);
  });

  test('an unknown key is 400 and names the nearest', async () => {
    const { message } = await refused({ 'agent.max_turn': 3, 'memory.top_k': 1 }, 400);
    expect(message).toContain('agent.max_turns');
  });

  test('an unknown key hides no wrong value beside it', async () => {
    const { details } = await refused({ 'agent.max_turn': 3, 'agent.on_busy': 'drop' }, 400);
    expect(details?.fields?.map(({ path }) => path).sort()).toEqual(['agent.max_turn', 'agent.on_busy']);
  });

  test('keys that clash with each other are 400', async () => {
    await refused({ 'gateway.port': 7001, 'gateway.profile_a_port': 7001 }, 400);
    await refused({ 'provider.kind': 'auto', 'provider.api_key': 'canary-of-no-kind' }, 400);
  });

  test('keys that only the file may set are 403 and named', async () => {
    for (const key of ['database.url', 'database.pool_size', 'database', 'provider.base_url']) {
      const { message, details } = await refused({ [key]: null, 'agent.max_turns': 3 }, 403);
      expect(message).toContain(key);
      expect(details?.fields?.map(({ path }) => path)).toEqual([key]);
    }
  });

  test('a thing of a collection is made and changed by its keys, where no key of it is for the file alone', async () => {
    const { details } = await refused({ 'mcp.servers.fs': { command: 'rm', enabled: true } }, 403);
    expect(details?.fields?.map(({ path }) => path)).toEqual(['mcp.servers.fs.command']);
    const half = await refused({ 'mcp.servers.fs.enabled': false }, 400);
    expect(half.message).toContain('needs a command');
    await refused({ 'mcp.servers.fs': {} }, 400);
    await refused({ 'mcp.servers.Not a name.enabled': false }, 400);
  });

  test('the redaction marker as a value is 400 and named, also for a key that only the file may set', async () => {
    for (const key of ['provider.api_key', 'database.url', 'agent.system_prompt']) {
      const { details } = await refused({ [key]: MARKER }, 400);
      expect(details?.fields?.map(({ path }) => path)).toEqual([key]);
    }
    await refused({ provider: { api_key: MARKER } }, 400);
  });

  test('names that reach a prototype are 400 and pollute nothing', async () => {
    for (const key of ['__proto__.polluted', 'constructor.prototype.polluted', 'agent.__proto__.polluted'])
      await refused({ [key]: true }, 400);
    const raw = '{"__proto__": {"polluted": true}, "agent": {"__proto__": {"polluted": true}}}';
    const answer = await gateway.b.send('PATCH', '/config', {
      raw,
      headers: { 'content-type': 'application/json' },
    });
    expectError('b', answer, 400, 'bad_request');
    expect(Reflect.get({}, 'polluted')).toBeUndefined();
  });

  test.each(['[]', '"x"', 'null', '{"a":'])('a body of %s is 400', async (raw) => {
    const headers = { 'content-type': 'application/json' };
    expectError('b', await gateway.b.send('PATCH', '/config', { raw, headers }), 400, 'bad_request');
  });

  test('values longer than 64 characters are never echoed, as a value or as a key', async () => {
    const long = 'canary'.repeat(40);
    const error = await refused({ 'agent.on_busy': long, [`agent.${long}`]: 1 }, 400);
    expect(JSON.stringify(error)).not.toContain(long.slice(0, 80));
  });

  test('the answer says what limit holds for configuration writes', async () => {
    const { headers } = await patch({});
    expect(headers.get('x-ratelimit-limit')).toBe('100000');
    const tight = await patch({ 'rate_limits.config_write': 5 });
    expect(tight.status).toBe(200);
    expect((await patch({ 'rate_limits.config_write': null })).headers.get('x-ratelimit-limit')).toBe('5');
  });
});

describe('If-Match', () => {
  test('the tag of the configuration in force lets a PATCH through and moves with it', async () => {
    const etag = (await gateway.b.get('/config')).headers.get('etag') ?? '';
    const first = await patch({ 'agent.max_turns': 31 }, { 'if-match': etag });
    expect(first.status).toBe(200);
    expect(first.headers.get('etag')).not.toBe(etag);
    const error = await refused({ 'agent.max_turns': 32 }, 409, { 'if-match': etag });
    expect(error.details?.reason).toBe('configuration_moved');
    expect(
      (await patch({ 'agent.max_turns': 32 }, { 'if-match': `"x", ${first.headers.get('etag')}` })).status,
    ).toBe(200);
    expect((await patch({ 'agent.max_turns': 33 }, { 'if-match': '*' })).status).toBe(200);
  });

  test('of many PATCHes that start from one tag, one gets through', async () => {
    const etag = (await gateway.b.get('/config')).headers.get('etag') ?? '';
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        patch({ 'agent.max_waiting': 100 + index }, { 'if-match': etag }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(7).fill(409)]);
  });

  test('a secret that changes moves the tag, though it reads the same', async () => {
    const set = (key: string) => patch({ 'provider.kind': 'openai', 'provider.api_key': key });
    const one = (await set('canary-one-of-two')).headers.get('etag');
    expect((await set('canary-two-of-two')).headers.get('etag')).not.toBe(one);
    await patch({ provider: null });
  });
});

describe('4.1 | POST | /config/reload | none | 200; object with reloaded (boolean) and changes (array of String, dotted config key paths)', () => {
  const reload = () => gateway.a.post<Reloaded>('/config/reload');

  test('file and environment are read again, and the changed leaves are named', async () => {
    await writeFile(file, '[memory]\ntop_k = 8\n[agent]\nmax_output_tokens = 512\non_busy = "queue"\n');
    expect(await reload()).toMatchObject({
      status: 200,
      body: { reloaded: true, changes: ['agent.max_output_tokens', 'memory.top_k'] },
    });
    expect(await shown()).toMatchObject({ memory: { top_k: 8 }, agent: { max_output_tokens: 512 } });
    expect((await reload()).body).toEqual({ reloaded: true, changes: [] });
  });

  test('what PATCH set wins over the file, so such a key is no change', async () => {
    await patch({ 'memory.top_k': 4 });
    await writeFile(file, '[memory]\ntop_k = 9\n');
    expect((await reload()).body.changes).not.toContain('memory.top_k');
    expect(await shown()).toMatchObject({ memory: { top_k: 4 } });
    await patch({ 'memory.top_k': null });
    expect(await shown()).toMatchObject({ memory: { top_k: 9 } });
  });

  test('an invalid file changes nothing and is 400 with all the reasons', async () => {
    const before = await shown();
    await writeFile(file, '[memory]\ntop_kk = 1\n[agent]\nmax_turns = "many"\n');
    const { message } = expectError('a', await reload(), 400, 'bad_request');
    expect(message).toMatch(/gateway\.toml:2: memory\.top_kk: unknown key; the nearest is memory\.top_k/);
    expect(message).toMatch(/gateway\.toml:4: agent\.max_turns: expected integer/);
    expect(await shown()).toEqual(before);
    await writeFile(file, '[memory]\ntop_k = 7\n');
    expect((await reload()).status).toBe(200);
  });
});
