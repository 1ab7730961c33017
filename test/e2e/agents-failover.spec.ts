import { LLMock } from '@copilotkit/aimock';
import { createTestDatabase } from '../harness/database.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';

const WIRES = [
  { kind: 'openai', suffix: '/v1' },
  { kind: 'anthropic', suffix: '' },
] as const;
type Kind = (typeof WIRES)[number]['kind'];
const suffixOf = (kind: Kind): string => WIRES.find((one) => one.kind === kind)?.suffix ?? '';

interface AnswerWire {
  readonly content: string;
  readonly model: string;
  readonly error: { readonly message: string; readonly details: { readonly reason?: string } };
}

const status = (code: number, more: object = {}) => [
  { error: { message: 'Not today.' }, status: code, ...more },
  {},
];
/** What the first model does, and what its failure is called. */
const FAULTS: readonly (readonly [what: string, answer: readonly object[], reason: string])[] = [
  [
    'is silent until its time is up',
    [{ content: 'late' }, { chaos: { latencyMs: 3000 } }],
    'first_byte_timeout',
  ],
  ['refuses the key (401)', status(401), 'refused_credentials'],
  ['refuses the key (403)', status(403), 'refused_credentials'],
  ['does not know the model (404)', status(404), 'unknown_model'],
  ['timed out itself (408)', status(408), 'error'],
  ['has a conflict (409)', status(409), 'error'],
  ['limits the rate (429)', status(429), 'rate_limited'],
  ['limits the rate for a minute (429 with Retry-After)', status(429, { retryAfter: 60 }), 'rate_limited'],
  ['fails (500)', status(500), 'error'],
  ['is overloaded (503)', status(503), 'overloaded'],
  ['is overloaded (529)', status(529), 'overloaded'],
];

async function startFakes(): Promise<readonly [LLMock, LLMock]> {
  const [one, other] = [new LLMock({ port: 0 }), new LLMock({ port: 0 })];
  await one.start();
  await other.start();
  return [one, other];
}

function chainEnv(first: Kind, second: Kind, urls: readonly [string, string], cooldownSecs: number) {
  const provider = (name: string, kind: Kind, url: string): Record<string, string> => ({
    [`GATEWAY__PROVIDERS__${name}__KIND`]: kind,
    [`GATEWAY__PROVIDERS__${name}__API_KEY`]: `key-of-${name.toLowerCase()}-1234`,
    [`GATEWAY__PROVIDERS__${name}__BASE_URL`]: `${url}${suffixOf(kind)}`,
    [`GATEWAY__PROVIDERS__${name}__MAX_RETRIES`]: '0',
    [`GATEWAY__PROVIDERS__${name}__COOLDOWN_SECS`]: String(cooldownSecs),
  });
  return {
    ...provider('MAIN', first, urls[0]),
    ...provider('BACKUP', second, urls[1]),
    GATEWAY__PROVIDERS__GONE__KIND: first,
    GATEWAY__PROVIDERS__GONE__BASE_URL: `http://127.0.0.1:1${suffixOf(first)}`,
    GATEWAY__PROVIDERS__GONE__MAX_RETRIES: '0',
    GATEWAY__PROVIDERS__GONE__COOLDOWN_SECS: '0',
    GATEWAY__AGENTS__DUO__MODELS: 'main/one,backup/two',
    GATEWAY__AGENTS__SWAPPED__MODELS: 'backup/two,main/one',
    GATEWAY__AGENTS__LOST__MODELS: 'gone/one,backup/two',
    GATEWAY__AGENT__FIRST_BYTE_TIMEOUT_MS: '700',
  };
}

async function askAgent(gateway: TestGateway, agent: string, content: string) {
  const { body } = await gateway.b.post<{ id: string }>('/sessions', { agent });
  return gateway.b.post<AnswerWire>(`/sessions/${body.id}/messages`, { content });
}

describe.each(WIRES.flatMap((first) => WIRES.map((second) => [first.kind, second.kind] as const)))(
  'a chain of %s and %s',
  (first, second) => {
    let main: LLMock;
    let backup: LLMock;
    let gateway: TestGateway;

    beforeAll(async () => {
      [main, backup] = await startFakes();
      gateway = await startTestGateway({ env: chainEnv(first, second, [main.url, backup.url], 0) });
    });
    beforeEach(() => {
      main.reset();
      backup.reset();
    });
    afterAll(async () => {
      await gateway.stop();
      await main.stop();
      await backup.stop();
    });

    test.each(FAULTS)('a first model that %s is followed by the next within the turn', async (_, answer) => {
      main.onMessage('hello', ...(answer as [{ content: string }]));
      backup.onMessage('hello', { content: 'Here I am.' });
      const { status: code, body } = await askAgent(gateway, 'duo', 'hello');
      expect([code, body.content]).toEqual([200, 'Here I am.']);
      expect(body.model).toMatch(/^backup\//);
      expect(backup.getRequests()).toHaveLength(1);
    });

    test.each(FAULTS)('a last model that %s: the error has each reason', async (_, answer, reason) => {
      main.onMessage('hello', ...(answer as [{ content: string }]));
      backup.onMessage('hello', { error: { message: 'Out of order.' }, status: 500 });
      const { status: code, body } = await askAgent(gateway, 'swapped', 'hello');
      expect([code, body.error.details.reason]).toEqual([502, 'no_model_answered']);
      expect(body.error.message).toMatch(/backup\/two: .*\(500\).*main\/one: /);
      expect(reason).not.toBe('');
    });

    test('a first model that refuses the connection is followed within a second', async () => {
      backup.onMessage('hello', { content: 'Here I am.' });
      const began = performance.now();
      const { status: code, body } = await askAgent(gateway, 'lost', 'hello');
      expect([code, body.content]).toEqual([200, 'Here I am.']);
      expect(performance.now() - began).toBeLessThan(2000);
      expect(gateway.logLines.join('\n')).toContain(
        'the model gone/one failed and backup/two is asked instead',
      );
    });

    test('a stream that breaks after a word is never followed by another answer', async () => {
      main.onMessage(
        'cut',
        { content: 'abcdefghij' },
        { chunkSize: 1, truncateAfterChunks: 8, streamingProfile: { tps: 100 } },
      );
      const { status: code, body } = await askAgent(gateway, 'duo', 'cut');
      expect([code, body.error.details.reason]).toEqual([502, 'provider_stream_cut']);
      expect(backup.getRequests()).toHaveLength(0);
    });

    test('a request that the first rejects is not sent to the next', async () => {
      main.onMessage('odd', { error: { message: 'I cannot read this.' }, status: 400 });
      const { status: code, body } = await askAgent(gateway, 'duo', 'odd');
      expect([code, body.error.details.reason]).toEqual([502, 'provider_rejected_request']);
      expect(backup.getRequests()).toHaveLength(0);
    });
  },
);

test('a model that failed is passed over on a second replica within two seconds', async () => {
  const [main, backup] = await startFakes();
  const database = await createTestDatabase();
  const env = chainEnv('openai', 'openai', [main.url, backup.url], 30);
  const one = await startTestGateway({ env, database });
  const other = await startTestGateway({ env, database });
  try {
    main.onMessage('hello', { error: { message: 'No.' }, status: 500 });
    backup.onMessage('hello', { content: 'Here I am.' });
    expect((await askAgent(one, 'duo', 'hello')).status).toBe(200);
    await new Promise((resolve) => setTimeout(resolve, 2000));
    const asked = main.getRequests().length;
    expect((await askAgent(other, 'duo', 'hello')).body.content).toBe('Here I am.');
    expect(main.getRequests()).toHaveLength(asked);
    expect((await one.operations.get<string>('/metrics')).body).toMatch(
      /agent_gateway_provider_failovers_total\{.*provider="main",model="one",reason="provider_error".*\} [1-9]/,
    );
  } finally {
    await one.stop();
    await other.stop();
    await database.drop();
    await main.stop();
    await backup.stop();
  }
});
