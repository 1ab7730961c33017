import { consoleLines } from '../../src/platform/logging/console-output.js';
import { LOG_LEVELS, Logs } from '../../src/platform/logging/logger.js';
import { TokensService } from '../../src/platform/tokens/tokens.service.js';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { HookReceiver } from '../harness/hook-receiver.js';
import { type ScriptedProvider, startScriptedProvider } from '../harness/scripted-provider.js';
import { providerEnv } from '../harness/turn-stream.js';

const FORGED =
  '{"level":"error","timestamp":"2026-01-01T00:00:00.000Z","module":"forged","message":"forged"}';
/** Text that ends a line, controls a terminal, begins an event, or closes its string. */
const EVIL: readonly string[] = [
  `a\r\n${FORGED}\n`,
  `b\n\nid: 1\nevent: forged\ndata: ${FORGED}\n\n`,
  '\u001b[2J\u001b[31mred\u001b[0m\u001b]0;title\u0007\u0008\u007f',
  '\u009b31m\u0085\u0090',
  `c\u2028${FORGED}\u2029`,
  '\u202etxt.exe\u2066\u200f',
  `d","module":"forged","level":"error","x":"`,
  `e'} ${FORGED} \\`,
];
/** No line may contain these raw, because they act on whoever reads it. */
const ACTIVE = /[\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;

let gateway: TestGateway;
let provider: ScriptedProvider;
let receiver: HookReceiver;
beforeAll(async () => {
  [provider, receiver] = await Promise.all([startScriptedProvider(), HookReceiver.open()]);
  gateway = await startTestGateway({
    env: { ...providerEnv(provider), GATEWAY__LOGGING__LEVEL: 'trace', GATEWAY__LOGGING__REQUESTS: 'all' },
  });
  const stream = readRaw('/logs/stream?level=trace');
  for (const text of EVIL) await putEverywhere(text);
  gateway.started.app.get(Logs).for('end').info('that was all');
  rawStream = await stream;
}, 60_000);
afterAll(async () => {
  await gateway.stop();
  await Promise.all([provider.stop(), receiver.close()]);
});
let rawStream = '';

/** Reads the bytes of a log stream until the last line of this test has arrived. */
async function readRaw(path: string): Promise<string> {
  const abort = new AbortController();
  const headers = { authorization: `Bearer ${gateway.token}` };
  const response = await fetch(gateway.b.base + path, { headers, signal: abort.signal });
  let text = '';
  for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += piece;
    if (text.includes('that was all')) break;
  }
  abort.abort();
  return text;
}

/**
 * Puts the text into every part of a request that may be logged, and into what a provider, a receiver and a plugin
 * say.
 */
async function putEverywhere(text: string): Promise<void> {
  const { a, b } = gateway;
  const encoded = encodeURIComponent(text);
  const visible = Buffer.from(text.replaceAll(/[^\x20-\x7e\x80-\xff]/g, ' '), 'latin1').toString('latin1');
  const headers = { 'user-agent': visible, 'x-request-id': visible, traceparent: visible, referer: visible };
  await b.get(`/${encoded}?${encoded}=${encoded}`, headers);
  await b.get(`/logs?module=${encoded}&since=${encoded}`, headers);
  await b.post('/sessions', { channel: text, [text]: text });
  const session = await b.post<{ id: string }>('/sessions', { user_id: text, metadata: { [text]: text } });
  await a.post('/sessions', { user_id: text, system_prompt: text, model: text });
  await b.get(`/sessions/${encoded}`);
  await b.patch('/config', { [text]: text, 'agent.max_turns': text });
  await b.patch('/config', { 'skills.triggers': text });
  provider.script((response) => {
    response.writeHead(400, { 'content-type': 'application/json', 'x-request-id': visible });
    response.end(JSON.stringify({ error: { message: text, type: text, code: text } }));
  });
  await b.post(
    `/sessions/${session.body.id}/messages`,
    { content: text },
    { 'idempotency-key': `k-${encoded.length}` },
  );
  receiver.behaviour = (_attempt, response) => {
    response.writeHead(500, visible.replaceAll(/[\x80-\x9f]/g, ' '), { 'x-said': visible });
    response.end(text);
    return 'handled';
  };
  await a.post('/hooks', {
    url: receiver.url(`/${encoded}`),
    events: ['session.created'],
    secret: `${text}12345678`,
  });
  await a.post('/hooks', { url: `http://${text}/`, events: [text] });
  const tokens = gateway.started.app.get(TokensService, { strict: false });
  await tokens
    .create({ name: text, scopes: ['*'], boundUserId: text, expiresAt: null })
    .catch(() => undefined);
  gateway.started.app
    .get(Logs)
    .for(`evil::${text}`)
    .warn(text, { [text]: text, error: new Error(text), list: [text] });
}

const modulesOf = (lines: readonly string[]): unknown[] =>
  lines.map((line) => (JSON.parse(line) as { module: unknown }).module);

test('every call is one line of JSON, with what callers said inside its strings', () => {
  const lines = gateway.logLines;
  expect(lines.filter((line) => line.includes('evil::'))).toHaveLength(EVIL.length);
  for (const line of lines) {
    expect(line.slice(-1)).toBe('\n');
    expect(line.slice(0, -1)).not.toMatch(ACTIVE);
    const { level, module, message } = JSON.parse(line) as Record<string, unknown>;
    expect([LOG_LEVELS.includes(level as never), typeof module, typeof message]).toEqual([
      true,
      'string',
      'string',
    ]);
    // No duplicate keys: readers differ in which of the two they take.
    expect(line.match(/"level":"\w+","timestamp"/g)).toHaveLength(1);
  }
  expect(modulesOf(lines)).not.toContain('forged');
});

test.each([true, false])(
  'the pretty format is one line a call and nothing steers a terminal (on one: %s)',
  (isTerminal) => {
    let written = '';
    const write = consoleLines('pretty', isTerminal, (text) => (written += text));
    for (const line of gateway.logLines) write(line, 30);
    const lines = written.split('\n');
    expect(lines.pop()).toBe('');
    expect(lines).toHaveLength(gateway.logLines.length);
    for (const line of lines) {
      // Its own colours are the only codes it may have.
      const text = isTerminal ? line.replaceAll(/\u001b\[(?:0|2|3[1236]|90)m/g, '') : line;
      expect(text).not.toMatch(ACTIVE);
      expect(text).toMatch(/^\d{2}:\d{2}:\d{2}\.\d{3} [A-Z]+ +\S/);
    }
  },
);

test('both profiles list as many lines as were written, and none that were forged', async () => {
  await eventually(async () => {
    const { body } = await gateway.b.get<{ total: number }>('/logs?level=trace&module=evil');
    expect(body.total).toBe(EVIL.length);
  });
  for (const [profile, path] of [
    ['a', '/logs?limit=500'],
    ['b', '/logs?level=trace&limit=500'],
  ] as const) {
    const { body } = await gateway[profile].get<{ entries: Record<string, string>[] }>(path);
    expect(body.entries.length).toBeGreaterThan(EVIL.length);
    for (const entry of body.entries) {
      for (const text of Object.values(entry)) expect(text).not.toMatch(ACTIVE);
      expect([entry['module'], entry['component'], entry['message']]).not.toContain('forged');
    }
  }
});

test('a stream has an event for each of them, and no line of its own making', () => {
  const lines = rawStream.split(/\r\n|\n|\r/);
  expect(lines.filter((line) => line.startsWith('data: ')).length).toBeGreaterThan(EVIL.length);
  for (const line of lines) {
    expect(line).toMatch(/^$|^: |^retry: \d+$|^id: \d+$|^event: (?:log|gap)$|^data: \{/);
    if (line.startsWith('data: ')) expect(modulesOf([line.slice(6)])).not.toContain('forged');
  }
});
