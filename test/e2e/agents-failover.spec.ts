import { LLMock } from '@copilotkit/aimock';
import { createTestDatabase } from '../harness/database.js';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { HookReceiver } from '../harness/hook-receiver.js';
import { watchMachine } from '../harness/promptly.js';
import { TurnStream } from '../harness/turn-stream.js';

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

/** How a model fails. */
interface Fault {
  readonly what: string;
  /** The name of the failure. */
  readonly reason: string;
  /** For `onMessage`; absent when nobody listens at all. */
  readonly answer?: readonly object[];
}

const status = (code: number, more: object = {}) => [
  { error: { message: 'Not today.' }, status: code, ...more },
  {},
];
const SILENT_MS = 700;
const FAULTS: readonly Fault[] = [
  { what: 'refuses the connection', reason: 'unreachable' },
  {
    what: 'is silent until its time is up',
    reason: 'first_byte_timeout',
    answer: [{ content: 'late' }, { chaos: { latencyMs: 3000 } }],
  },
  { what: 'refuses the key (401)', reason: 'refused_credentials', answer: status(401) },
  { what: 'refuses the key (403)', reason: 'refused_credentials', answer: status(403) },
  { what: 'does not know the model (404)', reason: 'unknown_model', answer: status(404) },
  { what: 'timed out itself (408)', reason: 'error', answer: status(408) },
  { what: 'has a conflict (409)', reason: 'error', answer: status(409) },
  { what: 'limits the rate (429)', reason: 'rate_limited', answer: status(429) },
  {
    what: 'limits the rate for a minute (429 with Retry-After)',
    reason: 'rate_limited',
    answer: status(429, { retryAfter: 60 }),
  },
  { what: 'fails (500)', reason: 'error', answer: status(500) },
  { what: 'is overloaded (503)', reason: 'overloaded', answer: status(503) },
  { what: 'is overloaded (529)', reason: 'overloaded', answer: status(529) },
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
    GATEWAY__AGENTS__STRANDED__MODELS: 'backup/two,gone/one',
    GATEWAY__AGENT__FIRST_BYTE_TIMEOUT_MS: String(SILENT_MS),
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

    /** How long after the first model's failure the second one was asked, without what the machine itself was late. */
    const switchedAfterMs: number[] = [];

    test.each(FAULTS)('a first model that $what is followed by the next within the turn', async (fault) => {
      const { answer, reason } = fault;
      if (answer !== undefined) main.onMessage('hello', ...(answer as [{ content: string }]));
      backup.onMessage('hello', { content: 'Here I am.' });
      const before = gateway.logLines.length;
      const agent = answer === undefined ? 'lost' : 'duo';
      const machine = await watchMachine();
      const sentAt = Date.now();
      const { status: code, body } = await askAgent(gateway, agent, 'hello');
      const grantedMs = await machine.stop();
      expect([code, body.content]).toEqual([200, 'Here I am.']);
      expect(body.model).toMatch(/^backup\//);
      expect(backup.getRequests()).toHaveLength(1);
      const told = gateway.logLines
        .slice(before)
        .find((line) => line.includes('backup/two is asked instead'));
      expect(told).toContain(`"reason":"provider_${reason}"`);
      const askedAt = backup.getRequests()[0]?.timestamp ?? Number.NaN;
      const failedAt = main.getRequests()[0]?.timestamp ?? sentAt;
      const silentMs = reason === 'first_byte_timeout' ? SILENT_MS : 0;
      switchedAfterMs.push(askedAt - failedAt - silentMs - grantedMs);
    });

    test('the next model is asked within a second of the failure', () => {
      expect(switchedAfterMs).toHaveLength(FAULTS.length);
      expect(Math.max(...switchedAfterMs)).toBeLessThan(1000);
    });

    test.each(FAULTS)('a last model that $what: the error has each reason', async ({ answer }) => {
      if (answer !== undefined) main.onMessage('hello', ...(answer as [{ content: string }]));
      backup.onMessage('hello', { error: { message: 'Out of order.' }, status: 500 });
      const agent = answer === undefined ? 'stranded' : 'swapped';
      const { status: code, body } = await askAgent(gateway, agent, 'hello');
      expect([code, body.error.details.reason]).toEqual([502, 'no_model_answered']);
      expect(body.error.message).toMatch(/backup\/two: .*\(500\).*(main|gone)\/one: \S/);
      expect(backup.getRequests()).toHaveLength(1);
    });

    /** A stream that begins and breaks off. */
    const breaksAfterAWord = (model: LLMock): void => {
      model.onMessage(
        'cut',
        { content: 'abcdefghij' },
        { chunkSize: 1, truncateAfterChunks: 8, streamingProfile: { tps: 100 } },
      );
    };

    test('a first stream that breaks after a word is never followed by another answer', async () => {
      breaksAfterAWord(main);
      backup.onMessage('cut', { content: 'A second answer.' });
      const { status: code, body } = await askAgent(gateway, 'duo', 'cut');
      expect([code, body.error.details.reason]).toEqual([502, 'provider_stream_cut']);
      expect([main.getRequests(), backup.getRequests()].map(({ length }) => length)).toEqual([1, 0]);
    });

    test('a last stream that breaks after a word is not followed by the first model again', async () => {
      backup.onMessage('cut', { error: { message: 'Out of order.' }, status: 500 });
      breaksAfterAWord(main);
      const { status: code, body } = await askAgent(gateway, 'swapped', 'cut');
      expect([code, body.error.details.reason]).toEqual([502, 'provider_stream_cut']);
      expect([main.getRequests(), backup.getRequests()].map(({ length }) => length)).toEqual([1, 1]);
    });

    test('who follows the stream gets one word and the error, and no second answer', async () => {
      breaksAfterAWord(main);
      backup.onMessage('cut', { content: 'A second answer.' });
      const { body } = await gateway.b.post<{ id: string }>('/sessions', { agent: 'duo' });
      const path = `${gateway.b.base}/sessions/${body.id}/messages`;
      const stream = await TurnStream.open(path, gateway.token, { body: { content: 'cut' } });
      await stream.untilEnded();
      expect('abcdefghij'.startsWith(stream.said())).toBe(true);
      expect([stream.said() === '', stream.frames.at(-1)?.event]).toEqual([false, 'error']);
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

test('`never silent`: the answer, the log, the metric, the webhook and the turn say who failed, why, and who answered', async () => {
  const [main, backup] = await startFakes();
  const receiver = await HookReceiver.open();
  const gateway = await startTestGateway({
    env: chainEnv('openai', 'anthropic', [main.url, backup.url], 30),
  });
  try {
    await gateway.b.post('/hooks', { url: receiver.url(), events: ['provider.failed_over'] });
    main.onMessage('hello', { error: { message: 'No.' }, status: 401 });
    backup.onMessage('hello', { content: 'Here I am.' });
    const { body: session } = await gateway.b.post<{ id: string }>('/sessions', { agent: 'duo' });
    const { body } = await gateway.b.post<AnswerWire>(`/sessions/${session.id}/messages`, {
      content: 'hello',
    });
    expect(body.model).toMatch(/^backup\//);
    await eventually(() => expect(receiver.bodies()).toHaveLength(1));
    const [told] = receiver.bodies();
    expect(told?.data).toEqual({
      provider: 'main',
      model: 'one',
      reason: 'provider_refused_credentials',
      next_provider: 'backup',
      next_model: 'two',
      agent: 'duo',
      session_id: session.id,
      turn_id: expect.stringMatching(/^turn_/) as string,
    });
    const lines = gateway.logLines.filter((line) => line.includes('"agent":"duo"'));
    expect(lines.join('\n')).toContain('a model provider refuses its key');
    expect(lines.join('\n')).toContain('the model main/one failed and backup/two is asked instead');
    await eventually(async () => {
      const turn = await gateway.admin.get<{ failover: unknown }>(`/turns/${String(told?.data['turn_id'])}`);
      expect(turn.body.failover).toEqual([{ model: 'main/one', reason: 'provider_refused_credentials' }]);
    });
    const agents = await gateway.admin.get<{ items: { name: string; models: unknown }[] }>('/agents');
    expect(agents.body.items.find(({ name }) => name === 'duo')?.models).toEqual([
      { name: 'main/one', status: 'cooling', reason: 'provider_refused_credentials' },
      { name: 'backup/two', status: 'ok', reason: null },
    ]);
    expect((await gateway.operations.get<string>('/metrics')).body).toMatch(
      /agent_gateway_provider_failovers_total\{.*provider="main",model="one",reason="provider_refused_credentials".*\} [1-9]/,
    );
  } finally {
    await gateway.stop();
    await Promise.all([receiver.close(), main.stop(), backup.stop()]);
  }
});

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
