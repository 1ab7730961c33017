import { request } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
  for (let i = 0; i < 20; i++) await gateway.a.post('/sessions', {});
});
afterAll(() => gateway.stop());

interface Raw {
  readonly encoding: string | undefined;
  readonly vary: string | undefined;
  readonly length: string | undefined;
  readonly body: Buffer;
}

function get(path: string, encodings: string | undefined, more: Record<string, string> = {}): Promise<Raw> {
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${gateway.token}`,
      ...(encodings === undefined ? {} : { 'accept-encoding': encodings }),
      ...more,
    };
    const asked = request({ host: '127.0.0.1', port: gateway.started.ports.b, path, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        if (response.headers['content-type']?.startsWith('text/event-stream') === true) response.destroy();
      });
      response.on('close', () =>
        resolve({
          encoding: response.headers['content-encoding'],
          vary: response.headers.vary,
          length: response.headers['content-length'],
          body: Buffer.concat(chunks),
        }),
      );
    });
    asked.on('error', reject);
    asked.end();
  });
}

test('JSON over 1 KiB is compressed for who can take it, and is the same JSON', async () => {
  const plain = await get('/api/v1/sessions', undefined);
  expect([plain.encoding, plain.length]).toEqual([undefined, String(plain.body.length)]);
  expect(plain.body.length).toBeGreaterThan(1024);
  const small = await get('/api/v1/sessions', 'gzip');
  expect([small.encoding, small.vary]).toEqual(['gzip', 'Accept-Encoding']);
  expect(small.body.length).toBeLessThan(plain.body.length / 3);
  expect(JSON.parse(gunzipSync(small.body).toString('utf8'))).toEqual(
    JSON.parse(plain.body.toString('utf8')),
  );
});

test.each(['/openapi.json', '/asyncapi.json', '/admin/v1/openapi.json'])(
  '%s is compressed for who can take it, each time the same',
  async (path) => {
    const plain = await get(path, undefined);
    expect([plain.encoding, plain.vary, plain.length]).toEqual([
      undefined,
      'Accept-Encoding',
      String(plain.body.length),
    ]);
    for (const encodings of ['gzip', 'br, gzip;q=0.5']) {
      const small = await get(path, encodings);
      expect([small.encoding, small.vary]).toEqual(['gzip', 'Accept-Encoding']);
      expect(gunzipSync(small.body).equals(plain.body)).toBe(true);
    }
    for (const encodings of ['identity', 'gzip;q=0', 'zstd'])
      expect((await get(path, encodings)).body.equals(plain.body)).toBe(true);
  },
);

test('what is small, refused by the caller, or no JSON stays as it is', async () => {
  expect((await get('/api/v1/status/health', 'gzip')).encoding).toBeUndefined();
  expect((await get('/api/v1/sessions', 'identity')).encoding).toBeUndefined();
  expect((await get('/api/v1/sessions', 'gzip;q=0')).encoding).toBeUndefined();
});

test('a stream is never compressed', async () => {
  const stream = await get('/api/v1/logs/stream?level=trace', 'gzip, br', { accept: 'text/event-stream' });
  expect(stream.encoding).toBeUndefined();
});
