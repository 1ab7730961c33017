import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { channelEnv } from '../harness/channels.js';
import { diagnosis, type Finding, overHttp } from '../harness/doctor.js';
import { eventually } from '../harness/eventually.js';
import { freePort } from '../harness/free-port.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { HookReceiver } from '../harness/hook-receiver.js';
import { McpBench, scripted, serverB, shared } from '../harness/mcp.js';
import { PluginBench } from '../harness/plugins.js';
import { PathWithoutBubblewrap } from '../harness/sandbox.js';
import { type ScriptedProvider, startScriptedProvider } from '../harness/scripted-provider.js';
import { providerEnv } from '../harness/turn-stream.js';

jest.setTimeout(120_000);
const SOON_MS = 20_000;

/** Waits until `doctor --url` reports this for a part. */
async function expectPart(gateway: TestGateway, name: string, expected: Partial<Finding>): Promise<void> {
  await eventually(async () => {
    const { code, part } = await diagnosis(overHttp(gateway));
    expect(part(name)).toMatchObject(expected);
    if (expected.status === 'failing') expect(code).toBe(1);
  }, SOON_MS);
}

const like = (text: string | RegExp): string => expect.stringMatching(text) as string;

describe('channels, tool servers, plugins', () => {
  let bench: McpBench;
  let plugins: PluginBench;
  let gateway: TestGateway;
  beforeAll(async () => {
    bench = await McpBench.make({
      own: shared(scripted(`doctor-${process.pid}`)),
      broken: scripted(`doctor-${process.pid}`, 'crash'),
    });
    plugins = await PluginBench.make();
    await mkdir(join(plugins.directory, 'half'));
    await writeFile(join(plugins.directory, 'half/plugin.toml'), 'name = "half"\n');
    const phone = channelEnv('phone', {
      ...{ type: 'telegram', token: '123456:wrong', api_url: `http://127.0.0.1:${await freePort()}` },
    });
    gateway = await startTestGateway({ env: { ...bench.env, ...plugins.env, ...phone } });
  });
  afterAll(async () => {
    await gateway.stop();
    await bench.clear();
    await plugins.clear();
  });

  test('a channel that cannot connect: which one, why, and how to restart it', () =>
    expectPart(gateway, 'channels', {
      status: 'failing',
      detail: like(/^not connected: phone \(.+\)$/),
      advice: like('agent-gateway channels restart <name>'),
    }));

  test('a tool server that crashes: which one, why, and how to reconnect it', () =>
    expectPart(gateway, 'tool servers', {
      status: 'failing',
      detail: like(/^not connected: broken \(it exited with code 3/),
      advice: like('agent-gateway mcp reconnect <name>'),
    }));

  test('a plugin that cannot be loaded: which one and why', () =>
    expectPart(gateway, 'plugins', {
      status: 'failing',
      detail: like(/^not loaded: half \(.+\)$/),
      advice: 'Repair its folder; it is loaded again by itself.',
    }));
});

describe('tools in quarantine, and a sandbox that is missing', () => {
  let path: PathWithoutBubblewrap;
  let bench: McpBench;
  beforeAll(async () => {
    path = await PathWithoutBubblewrap.make();
    bench = await McpBench.make({ own: shared(scripted(`held-${process.pid}`)) });
  });
  afterAll(async () => {
    await bench.clear();
    await path.clear();
  });

  test('a tool that changed waits: which one, and how to approve it', async () => {
    const gateway = await startTestGateway({ env: bench.env });
    try {
      await eventually(
        async () => expect((await serverB(gateway, 'own'))?.status).toBe('connected'),
        SOON_MS,
      );
      await gateway.database.query(
        `UPDATE mcp_tools SET fingerprint = 'before', pending_fingerprint = fingerprint, pending_definition = definition
         WHERE server = 'own' AND tool = 'echo'`,
      );
      await expectPart(gateway, 'tool servers', {
        status: 'warning',
        detail: 'new or changed tools wait in quarantine: own/echo',
        advice: like('agent-gateway mcp approve <server> <tool>'),
      });
    } finally {
      await gateway.stop();
    }
  });

  test('stdio servers that run without the sandbox that they should have', async () => {
    const own = await McpBench.make(
      { own: shared(scripted(`unshut-${process.pid}`)) },
      '[security.sandbox]\nbackend = "auto"\n',
    );
    const gateway = await startTestGateway({ env: { ...own.env, PATH: path.value } });
    try {
      await eventually(
        async () => expect((await serverB(gateway, 'own'))?.status).toBe('disconnected'),
        SOON_MS,
      );
      await expectPart(gateway, 'tool servers', { status: 'failing', detail: like('install bubblewrap') });
    } finally {
      await gateway.stop();
      await own.clear();
    }
  });
});

describe('webhooks', () => {
  let gateway: TestGateway;
  let receiver: HookReceiver;
  beforeAll(async () => {
    receiver = await HookReceiver.open();
    gateway = await startTestGateway();
  });
  afterAll(async () => {
    await gateway.stop();
    await receiver.close();
  });
  afterEach(() => gateway.database.query('DELETE FROM hooks'));
  const made = async () =>
    (await gateway.b.post<{ id: string }>('/hooks', { url: receiver.url(), events: ['session.created'] }))
      .body.id;

  test('whose every attempt fails: which one, and what sends again what it missed', async () => {
    receiver.behaviour = () => 500;
    const id = await made();
    await gateway.b.post('/sessions');
    await expectPart(gateway, 'webhooks', {
      status: 'warning',
      detail: `failing or given up: ${id} (every attempt fails)`,
      advice: like('agent-gateway hooks replay <id>'),
    });
  });

  test('that was given up: which one and why', async () => {
    receiver.behaviour = () => 410;
    const id = await made();
    await gateway.b.post('/sessions');
    await expectPart(gateway, 'webhooks', {
      status: 'failing',
      detail: like(new RegExp(`^failing or given up: ${id} \\(given up: \\w+\\)$`)),
    });
  });

  test('that lags: for how long its oldest delivery waits', async () => {
    receiver.behaviour = (_attempt, response) => {
      // It never answers.
      response.on('close', () => undefined);
      return 'handled';
    };
    const id = await made();
    for (let sent = 0; sent < 12; sent += 1) await gateway.b.post('/sessions');
    await gateway.database.query(
      `UPDATE hook_deliveries SET created_at = now() - interval '90 s' WHERE hook_id = $1 AND attempts = 0`,
      [id],
    );
    await expectPart(gateway, 'webhooks', {
      status: 'warning',
      detail: like(new RegExp(`^deliveries wait for their first attempt: ${id} \\(for (9\\d|1\\d\\d) s\\)$`)),
      advice: like('agent-gateway hooks deliveries <id>'),
    });
  });
});

describe('the provider', () => {
  let provider: ScriptedProvider;
  let gateway: TestGateway;
  let gone: string;
  beforeAll(async () => {
    provider = await startScriptedProvider();
    gone = `http://127.0.0.1:${await freePort()}/v1`;
    gateway = await startTestGateway({
      env: {
        ...providerEnv(provider),
        GATEWAY__PROVIDER__MAX_RETRIES: '0',
        GATEWAY__PROVIDER__COOLDOWN_SECS: '1',
        GATEWAY__PROVIDERS__FAR__KIND: 'openai',
        GATEWAY__PROVIDERS__FAR__API_KEY: 'another-key',
        GATEWAY__PROVIDERS__FAR__BASE_URL: gone,
        GATEWAY__PROVIDERS__FAR__MODEL: 'far',
        GATEWAY__PROVIDERS__FAR__MAX_RETRIES: '0',
      },
    });
  });
  afterAll(async () => {
    await gateway.stop();
    await provider.stop();
  });
  const ask = async (session: object = {}) => {
    const { body } = await gateway.b.post<{ id: string }>('/sessions', session);
    return gateway.b.post(`/sessions/${body.id}/messages`, { content: 'Hello' });
  };
  const answering = () =>
    provider.script((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(
        'data: {"choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":"stop"}],"model":"m"}\n\ndata: [DONE]\n\n',
      );
    });
  /** It answers again, so the earlier failure is no longer a finding. */
  const recovered = async () => {
    answering();
    expect((await ask()).status).toBe(200);
    await expectPart(gateway, 'provider', {
      status: 'ok',
      detail: like('no model failed when it was last asked'),
    });
  };
  const refusing = (status: number, code: string) =>
    provider.script((response) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { message: 'no', type: code, code } }));
    });

  test.each([
    [401, 'invalid_api_key', 'provider_refused_credentials', 'a key that its provider accepts'],
    [404, 'model_not_found', 'provider_unknown_model', 'Name a model that its provider has'],
    [429, 'insufficient_quota', 'provider_quota_used_up', 'Raise the quota'],
    [503, 'overloaded', 'provider_overloaded', 'status page of the provider'],
  ])(
    'that answers %i %s: the model, why, since when, and what to do, until it answers again',
    async (status, code, reason, advice) => {
      refusing(status, code);
      await ask();
      await expectPart(gateway, 'provider', {
        status: 'failing',
        detail: like(
          new RegExp(
            `^failed when last asked: m \\(${reason}, \\d+ s ago\\); nothing else answers for default$`,
          ),
        ),
        advice: like(new RegExp(`${advice}.* "agent-gateway agents check" asks each model again`)),
      });
      await recovered();
    },
  );

  test('that cannot be reached while another model answers: a warning, also when it is asked again already', async () => {
    expect(
      (await gateway.b.patch('/config', { agents: { both: { models: ['far/far', 'm'] } } })).status,
    ).toBe(200);
    answering();
    await ask({ agent: 'both' });
    await new Promise((later) => setTimeout(later, 1500));
    await expectPart(gateway, 'provider', {
      status: 'warning',
      detail: like(/^failed when last asked: far\/far \(provider_unreachable, \d+ s ago\)$/),
      advice: like('base_url, the network between and the proxy'),
    });
  });
});

describe('what is used up, and no provider at all', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startTestGateway();
  });
  afterAll(() => gateway.stop());

  test('no key of a provider: that the built-in agent answers, and which variable to set', () =>
    expectPart(gateway, 'provider', {
      status: 'warning',
      detail: 'no model provider is configured: the built-in offline agent answers',
      advice: like('Set ANTHROPIC_API_KEY or OPENAI_API_KEY'),
    }));

  test('a budget that is spent, and a token that used up its day: whose, how much, and what to do', async () => {
    await gateway.b.patch('/config', { 'limits.all.daily_usd': 5, 'limits.daily_tokens_per_api_token': 1 });
    const { body } = await gateway.b.post<{ id: string }>('/sessions');
    await gateway.b.post(`/sessions/${body.id}/messages`, { content: 'Hello' });
    await gateway.database.query(
      `INSERT INTO budget_notices (scope, name, period, starts_on, limit_usd, notice)
       VALUES ('all', '', 'day', (now() AT TIME ZONE 'UTC')::date, 5, 'reached')`,
    );
    await expectPart(gateway, 'limits', {
      status: 'warning',
      detail: like(/^used up: all \(day\), test \(\d+ of 1 model tokens of today\)$/),
      advice: like(/^Raise it in \[limits\].*limits\.daily_tokens_per_api_token/),
    });
  });

  test('a token whose attachments leave no room', async () => {
    await gateway.b.patch('/config', {
      'limits.all.daily_usd': null,
      'limits.daily_tokens_per_api_token': 0,
      'limits.stored_bytes_per_api_token': 1000,
    });
    await gateway.database.query(
      `INSERT INTO token_storage (token_family, slot, bytes) SELECT id, 0, 990 FROM api_tokens`,
    );
    await expectPart(gateway, 'limits', {
      status: 'warning',
      detail: like(/test \(990 of 1000 bytes of attachments\)$/),
      advice: like('attachments go with their sessions'),
    });
  });
});
