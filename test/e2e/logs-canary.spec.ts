import { randomBytes } from 'node:crypto';
import { Logs } from '../../src/platform/logging/logger.js';
import { mintToken } from '../../src/platform/tokens/token-format.js';
import { EventStream } from '../harness/event-stream.js';
import { eventually } from '../harness/eventually.js';
import { figure } from '../harness/figure.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';

const canary = () => `canary/${randomBytes(9).toString('base64url')}+&"q\\s`;

const secrets = {
  providerKey: canary(),
  masterKey: randomBytes(32).toString('base64'),
  bootstrapToken: mintToken(),
};

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({
    env: {
      GATEWAY__LOGGING__LEVEL: 'trace',
      GATEWAY__LOGGING__REQUESTS: 'all',
      GATEWAY__PROVIDER__KIND: 'openai',
      GATEWAY__PROVIDER__API_KEY: secrets.providerKey,
      GATEWAY_MASTER_KEY: secrets.masterKey,
      GATEWAY_BOOTSTRAP_TOKEN: secrets.bootstrapToken,
    },
  });
});
afterAll(() => gateway.stop());

test('no secret is in a line, whether written, stored, listed or streamed, in whatever form it came', async () => {
  const token = await gateway.mint();
  const planted = [...Object.values(secrets), token];
  const stream = await EventStream.open(
    `${gateway.b.base}/logs?stream=true&level=trace&limit=500`,
    gateway.token,
  );
  await sendEverywhere(planted);
  logEverywhere(planted);
  await eventually(async () => {
    const { body } = await gateway.b.get<{ total: number }>('/logs?level=trace&module=end');
    expect(body.total).toBe(1);
  });
  await eventually(() => expect(stream.events.map(({ data }) => data).join()).toContain('that was all'));
  stream.close();
  const [a, b] = await Promise.all([
    gateway.a.get('/logs?limit=500'),
    gateway.b.get('/logs?level=trace&limit=500'),
  ]);
  const rows = await gateway.database.query<{ line: string }>('SELECT l::text AS line FROM log_entries l');
  const places = {
    written: gateway.logLines.join(''),
    stored: rows.map(({ line }) => line).join('\n'),
    'listed in A': a.text,
    'listed in B': b.text,
    streamed: stream.events.map(({ data }) => data).join('\n'),
  };
  figure(['no-secret-leaves'], { planted: planted.length, scanned: Object.keys(places) });
  for (const [place, text] of Object.entries(places)) {
    expect(text).toContain('***REDACTED***');
    for (const secret of planted)
      expect({ place, found: formsOf(secret).filter((form) => text.includes(form)) }).toEqual({
        place,
        found: [],
      });
  }
});

/** Puts a secret into everything that callers send. */
async function sendEverywhere(planted: readonly string[]): Promise<void> {
  for (const secret of planted) {
    const encoded = encodeURIComponent(secret);
    await gateway.b.get(`/${encoded}?token=${encoded}`);
    await gateway.b.get('/sessions', { 'x-request-id': secret.replaceAll(/[^\w.:-]/g, '') });
    await gateway.b.post('/sessions', { channel: secret, [secret]: secret });
    await gateway.caller('b', secret.replaceAll(/[^\w-]/g, '')).get('/sessions');
  }
}

/** Logs a secret in every way that code might. */
function logEverywhere(planted: readonly string[]): void {
  const logs = gateway.started.app.get(Logs);
  for (const secret of planted) {
    const logger = logs.for('leaky');
    logger.trace(secret);
    logger.debug(`in a sentence: ${secret}`);
    logger.info('fields', { [secret]: 1, deep: [{ value: secret }], json: JSON.stringify({ secret }) });
    logger.warn(
      `https://user:${encodeURIComponent(secret)}@example.com/?k=${new URLSearchParams({ k: secret }).toString()}`,
    );
    logger.error('failed', { error: new Error(`refused: ${secret}`) });
    logger.error(`Basic ${Buffer.from(`user:${secret}`).toString('base64')}`);
    logs.for(`leaky::${secret}`).info('module');
  }
  logs.for('end').info('that was all');
}

function formsOf(secret: string): string[] {
  const json = JSON.stringify(secret).slice(1, -1);
  const forms = [secret, json, JSON.stringify(json).slice(1, -1), encodeURIComponent(secret)];
  return [...new Set([...forms, Buffer.from(`user:${secret}`).toString('base64').slice(7, -4)])];
}
