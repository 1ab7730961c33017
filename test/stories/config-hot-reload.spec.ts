import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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

interface Shown {
  readonly memory: { readonly top_k: number };
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
