import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestDatabase, type TestDatabase } from '../harness/database.js';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { answerWith, wires } from '../harness/provider-wires.js';
import {
  beginStream,
  type Script,
  type ScriptedProvider,
  startScriptedProvider,
} from '../harness/scripted-provider.js';

jest.setTimeout(300_000);

/** The promise: every replica applies a change within this time. */
const EVERYWHERE_MS = 1500;

interface Shown {
  readonly agent: { readonly max_turns: number; readonly max_waiting: number };
  readonly memory: { readonly top_k: number };
  readonly logging: { readonly level: string };
}

const shown = async ({ b }: TestGateway): Promise<Shown> => (await b.get<Shown>('/config')).body;
const range = (length: number): number[] => Array.from({ length }, (_, index) => index);

describe('the file is watched', () => {
  let folder: string;
  let gateway: TestGateway;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'config-'));
  });
  afterEach(async () => {
    await gateway.stop();
    await rm(folder, { recursive: true });
  });

  const topK = (expected: number) => async () => {
    expect((await shown(gateway)).memory.top_k).toBe(expected);
  };

  test('a change takes effect; a wrong one is warned about once and leaves the old settings; the next good one takes effect', async () => {
    const file = join(folder, 'gateway.toml');
    await writeFile(file, '[memory]\ntop_k = 1\n');
    gateway = await startTestGateway({ env: { GATEWAY_CONFIG: file } });
    await writeFile(file, '[memory]\ntop_k = 2\n');
    await eventually(topK(2));
    const warnings = () => gateway.logLines.filter((line) => line.includes('could not be applied'));
    await writeFile(file, '[memory]\ntop_k = "canary-many"\n');
    await eventually(() => expect(warnings()).toHaveLength(1));
    await rm(file);
    await eventually(() => expect(warnings()).toHaveLength(2));
    expect(warnings().join()).not.toContain('canary');
    await topK(2)();
    await writeFile(file, '[memory]\ntop_k = 3\n');
    await eventually(topK(3));
    expect(warnings()).toHaveLength(2);
  });

  test('a ConfigMap that Kubernetes swaps by a symbolic link is taken', async () => {
    for (const version of [1, 2]) {
      await mkdir(join(folder, `..v${version}`));
      await writeFile(join(folder, `..v${version}`, 'gateway.toml'), `[memory]\ntop_k = ${version}\n`);
    }
    await symlink('..v1', join(folder, '..data'));
    await symlink(join('..data', 'gateway.toml'), join(folder, 'gateway.toml'));
    gateway = await startTestGateway({ env: { GATEWAY_CONFIG: join(folder, 'gateway.toml') } });
    await topK(1)();
    await symlink('..v2', join(folder, '..data_tmp'));
    await rename(join(folder, '..data_tmp'), join(folder, '..data'));
    await eventually(topK(2));
  });
});

describe('three replicas', () => {
  let database: TestDatabase;
  let replicas: TestGateway[];
  beforeAll(async () => {
    database = await createTestDatabase();
    // Each replica has few database connections, and on a busy machine one is free late.
    const env = { GATEWAY__DATABASE__CONNECT_TIMEOUT_MS: '60000' };
    replicas = await Promise.all(range(3).map(() => startTestGateway({ database, env })));
  });
  afterAll(async () => {
    await Promise.all(replicas.map((replica) => replica.stop()));
    await database.drop();
  });

  const replica = (index: number): TestGateway => replicas[index % replicas.length] as TestGateway;
  const patch = (index: number, body: object, headers = {}) =>
    replica(index).b.patch('/config', body, headers);

  test('what one of them is told, all have within 1.5 s, secrets included', async () => {
    expect(
      (
        await patch(0, {
          'memory.top_k': 11,
          'provider.kind': 'openai',
          'provider.api_key': 'canary-of-three',
        })
      ).status,
    ).toBe(200);
    await eventually(async () => {
      for (const one of replicas) expect((await shown(one)).memory.top_k).toBe(11);
      for (const one of replicas)
        expect((await one.b.get('/status')).body).toMatchObject({ provider: { name: 'openai' } });
    }, EVERYWHERE_MS);
    const tags = await Promise.all(
      replicas.map(async (one) => (await one.b.get('/config')).headers.get('etag')),
    );
    expect(new Set(tags).size).toBe(1);
    await patch(1, { provider: null, memory: null });
  });

  test('a tag that was read from one of them is compared with what is stored, not with what another has seen so far', async () => {
    const first = await patch(0, { 'agent.max_turns': 41 });
    const etag = first.headers.get('etag') ?? '';
    expect((await patch(1, { 'agent.max_turns': 42 }, { 'if-match': etag })).status).toBe(200);
    expect((await patch(2, { 'agent.max_turns': 43 }, { 'if-match': etag })).status).toBe(409);
  });

  test('changes made everywhere at once all count, and no reader ever sees half of one', async () => {
    await patch(0, { 'memory.top_k': 9, 'agent.max_waiting': 9 });
    await eventually(async () => {
      for (const one of replicas) expect((await shown(one)).memory.top_k).toBe(9);
    }, EVERYWHERE_MS);
    const stop = new AbortController();
    let torn = 0;
    let reads = 0;
    const readers = replicas.map(async (one) => {
      while (!stop.signal.aborted) {
        const { agent, memory } = await shown(one);
        reads += 1;
        if (agent.max_waiting !== memory.top_k) torn += 1;
      }
    });
    const statuses = await Promise.all(
      range(30).map(async (index) => {
        const value = 10 + index;
        return (await patch(index, { 'memory.top_k': value, 'agent.max_waiting': value })).status;
      }),
    );
    stop.abort();
    await Promise.all(readers);
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(reads).toBeGreaterThan(30);
    expect(torn).toBe(0);
    await eventually(async () => {
      const all = await Promise.all(replicas.map(shown));
      expect(new Set(all.map((one) => JSON.stringify(one))).size).toBe(1);
    }, EVERYWHERE_MS);
    const [{ changes }] = (await database.query<{ changes: string }>(
      `SELECT count(*) AS changes FROM config_changes WHERE edits @> '[{"key": "agent.max_waiting"}]'`,
    )) as [{ changes: string }];
    expect(Number(changes)).toBe(31);
  });

  test('under load, 0 requests fail while 200 changes are applied', async () => {
    const stop = new AbortController();
    const failures: string[] = [];
    let requests = 0;
    const clients = range(6).map(async (number) => {
      while (!stop.signal.aborted) {
        const { a, b } = replica(number);
        const made = await a.post<{ session_id: string }>('/sessions', {});
        const said = await a.post(`/sessions/${made.body.session_id}/messages`, { content: 'Hello' });
        const read = await b.get(`/sessions/${made.body.session_id}`);
        requests += 3;
        for (const { status, text } of [made, said, read])
          if (status >= 300) failures.push(`${status} ${text}`);
      }
    });
    const change = async (index: number): Promise<void> => {
      const body = {
        'agent.max_turns': 10 + index,
        'agent.system_prompt': `Be brief ${index}.`,
        'provider.max_retries': index % 5,
        'rate_limits.other': 90_000 + index,
        'logging.level': index % 2 === 0 ? 'info' : 'debug',
      };
      const { status, text } = await patch(index, body);
      if (status !== 200) failures.push(`PATCH ${status} ${text}`);
    };
    // Each replica gets its share of the changes, one after the other.
    const told = replicas.map(async (_, share) => {
      for (let index = share; index < 200; index += replicas.length) await change(index);
    });
    await Promise.all(told);
    stop.abort();
    await Promise.all(clients);
    expect(failures).toEqual([]);
    expect(requests).toBeGreaterThan(100);
  });
});

describe('what runs while the configuration changes', () => {
  const [openai] = wires;
  let provider: ScriptedProvider;
  let gateway: TestGateway;
  beforeAll(async () => {
    provider = await startScriptedProvider();
    const env = {
      GATEWAY__PROVIDER__KIND: 'openai',
      GATEWAY__PROVIDER__BASE_URL: provider.url,
      GATEWAY__PROVIDER__MODEL: 'first-model',
      GATEWAY__AGENT__SYSTEM_PROMPT: 'First prompt.',
      GATEWAY__LOGGING__REQUESTS: 'all',
    };
    gateway = await startTestGateway({ env });
  });
  afterAll(async () => {
    await gateway.stop();
    await provider.stop();
  });

  const patch = (body: object) => gateway.b.patch('/config', body);
  const askedFor = (index: number) => JSON.stringify(provider.requests[index]?.body);

  test('a running turn keeps its provider, model, prompt and limits through all its rounds; the next one has the new ones', async () => {
    if (openai === undefined) throw new Error('There is no such wire.');
    gateway.tools.register({
      name: 'weather',
      description: 'The weather.',
      inputSchema: { type: 'object' },
      run: async () => {
        const answer = await patch({
          'provider.model': 'second-model',
          'provider.api_key': 'the-second-key',
          'agent.system_prompt': 'Second prompt.',
          'agent.max_output_tokens': 77,
          'agent.max_turns': 1,
        });
        return `patched: ${answer.status}`;
      },
    });
    const callsTool: Script = (response) => {
      beginStream(response, ...openai.opening, openai.argument('{}', true), ...openai.closing);
      response.end();
    };
    provider.script(callsTool, callsTool, callsTool, answerWith(openai, 'done'));
    const { body: session } = await gateway.b.post<{ id: string }>('/sessions', {});
    const first = await gateway.b.post(`/sessions/${session.id}/messages`, { content: 'Hello' });
    expect(first).toMatchObject({ status: 200, body: { content: 'done' } });
    expect(first.text).toContain('patched: 200');
    for (const index of range(4)) {
      expect(askedFor(index)).toContain('first-model');
      expect(askedFor(index)).toContain('First prompt.');
      expect(askedFor(index)).not.toMatch(/"max_tokens":77\b/);
      expect(provider.requests[index]?.headers.authorization ?? '').not.toContain('second');
    }
    provider.script(answerWith(openai, 'later'));
    await gateway.b.post(`/sessions/${session.id}/messages`, { content: 'And now?' });
    expect(askedFor(0)).toContain('second-model');
    expect(askedFor(0)).toContain('Second prompt.');
    expect(askedFor(0)).toMatch(/"max_tokens":77\b/);
    expect(provider.requests[0]?.headers.authorization).toBe('Bearer the-second-key');
  });

  test('only what changed is made again: a change elsewhere leaves the provider alone', async () => {
    const choices = () =>
      gateway.logLines.filter((line) => line.includes('the model provider is chosen')).length;
    const before = choices();
    await patch({ 'agent.max_turns': 9, 'memory.top_k': 3, 'rate_limits.other': 99_000 });
    expect(choices()).toBe(before);
    await patch({ 'provider.model': 'third-model' });
    expect(choices()).toBe(before + 1);
  });

  test('the log level takes effect with the next line', async () => {
    const accessLines = () => gateway.logLines.filter((line) => line.includes('"gateway::access"')).length;
    await patch({ 'logging.level': 'error' });
    const before = accessLines();
    await gateway.b.get('/sessions');
    expect(accessLines()).toBe(before);
    await patch({ 'logging.level': 'trace' });
    await gateway.b.get('/sessions');
    await eventually(() => expect(accessLines()).toBeGreaterThan(before));
  });

  test('a hook on config.updated gets the keys', async () => {
    const hook = await gateway.b.post('/hooks', {
      url: 'http://127.0.0.1:18999/',
      events: ['config.updated'],
    });
    expect(hook.status).toBe(201);
    await patch({ 'agent.max_turns': 12, 'gateway.docs': false });
    const [event] = await gateway.database.query<{ data: unknown }>(
      `SELECT * FROM events WHERE name = 'config.updated' ORDER BY 1 DESC LIMIT 1`,
    );
    expect(event?.data).toEqual({ keys: ['agent.max_turns', 'gateway.docs'], reload_required: true });
  });
});
