import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PROFILES } from '../contract/support/faces.js';
import { jsonRequest, RawConnection, request } from '../contract/support/raw-connection.js';
import { type Balancer, isInstalled, startHaproxy, startNginx } from '../faults/support/balancers.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';

const SESSIONS = '/api/v1/sessions';
/** What the JDK's client sends with everything over plain HTTP, and `curl --http2`. */
const H2C = {
  Connection: 'Upgrade, HTTP2-Settings',
  Upgrade: 'h2c',
  'HTTP2-Settings': 'AAMAAABkAARAAAAAAAIAAAAA',
};
const IGNORED = [
  ['h2c', H2C],
  ['an unknown protocol', { Connection: 'upgrade', Upgrade: 'foo/2' }],
  ['several protocols', { Connection: 'upgrade', Upgrade: 'h2c, foo' }],
  ['none, as proxies that always send "Connection: upgrade"', { Connection: 'upgrade' }],
  ['an empty one', { Connection: 'upgrade', Upgrade: '' }],
] as const;

let gateway: TestGateway;
let authorization: Record<string, string>;
beforeAll(async () => {
  gateway = await startTestGateway({ env: { GATEWAY__PROVIDER__KIND: 'offline' } });
  authorization = { Authorization: `Bearer ${gateway.token}` };
});
afterAll(() => gateway.stop());

const chunked = (target: string, headers: Record<string, string>, body: string): Buffer =>
  request(
    'POST',
    target,
    { ...headers, 'Content-Type': 'application/json', 'Transfer-Encoding': 'chunked' },
    `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
  );
const USER = '{"user_id":"ada"}';

describe.each(PROFILES)('RFC 9110, 7.8: an upgrade that is not a WebSocket’s, Profile %s', (profile) => {
  const open = (): Promise<RawConnection> => RawConnection.open(gateway.started.ports[profile]);

  test.each(IGNORED)(
    'to %s is ignored: requests with and without a body are answered',
    async (_, upgrade) => {
      const headers = { ...authorization, ...upgrade };
      const connection = await open();
      for (let time = 0; time < 12; time += 1) {
        connection.send(request('GET', SESSIONS, headers));
        expect((await connection.answer()).status).toBe(200);
        connection.send(jsonRequest('POST', SESSIONS, headers, USER));
        expect((await connection.answer()).status).toBe(201);
        connection.send(chunked(SESSIONS, headers, '{"no_such_field":1}'));
        const refused = await connection.answer();
        expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('no_such_field')]);
      }
      connection.close();
    },
  );

  test('is ignored for requests that come in one piece, and they are answered in order', async () => {
    const headers = { ...authorization, ...H2C };
    const connection = await open();
    connection.send(
      Buffer.concat([
        jsonRequest('POST', SESSIONS, headers, USER),
        request('GET', '/api/v1/no-such-path', headers),
        request('GET', SESSIONS, authorization),
        chunked(SESSIONS, headers, '{"no_such_field":1}'),
        request('GET', SESSIONS, headers),
      ]),
    );
    const statuses: number[] = [];
    for (let count = 0; count < 5; count += 1) statuses.push((await connection.answer()).status);
    expect(statuses).toEqual([201, 404, 200, 400, 200]);
    connection.close();
  });

  test('is ignored though the body comes in pieces, after the head', async () => {
    const connection = await open();
    const whole = jsonRequest('POST', SESSIONS, { ...authorization, ...H2C }, USER).toString();
    for (const piece of whole.match(/[\s\S]{1,60}/g) ?? []) {
      connection.send(piece);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    expect((await connection.answer()).status).toBe(201);
    connection.close();
  });

  test('is ignored when it is a WebSocket’s in name only: a POST opens none', async () => {
    const connection = await open();
    const headers = { ...authorization, Connection: 'Upgrade', Upgrade: 'websocket' };
    connection.send(jsonRequest('POST', SESSIONS, headers, USER));
    expect((await connection.answer()).status).toBe(201);
    connection.close();
  });

  test('is authenticated, limited and refused as any other request', async () => {
    const connection = await open();
    connection.send(request('GET', SESSIONS, H2C));
    const answer = await connection.answer();
    expect(answer.status).toBe(401);
    expect(answer.headers.get('x-ratelimit-limit')).toBeDefined();
    connection.send(jsonRequest('POST', SESSIONS, { ...authorization, ...H2C }, '{'));
    expect((await connection.answer()).status).toBe(400);
    connection.close();
  });
});

test('the operations port ignores every upgrade, a WebSocket’s too', async () => {
  const connection = await RawConnection.open(gateway.started.ports.operations);
  const asked = { Connection: 'Upgrade', Upgrade: 'websocket' };
  connection.send(Buffer.concat([request('GET', '/livez', H2C), request('GET', '/readyz', asked)]));
  expect((await connection.answer()).status).toBe(200);
  expect((await connection.answer()).status).toBe(200);
  connection.close();
});

const ifThere = (binary: string) => (isInstalled(binary) ? test : test.skip);

describe('clients and proxies that ask for an upgrade', () => {
  let folder: string;
  let balancer: Balancer | undefined;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'agw-upgrades-'));
  });
  afterEach(() => balancer?.stop());
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const upstream = () => ({
    port: gateway.started.ports.b ?? 0,
    operationsPort: gateway.started.ports.operations ?? 0,
  });

  async function expectServed(base: string): Promise<void> {
    for (let time = 0; time < 5; time += 1) {
      const read = await fetch(`${base}/sessions`, { headers: authorization });
      expect(read.status).toBe(200);
      await read.text();
      const headers = { ...authorization, 'Content-Type': 'application/json' };
      const made = await fetch(`${base}/sessions`, { method: 'POST', headers, body: USER });
      expect([made.status, await made.json()]).toMatchObject([201, { user_id: 'ada' }]);
    }
  }

  async function java(url: string): Promise<{ code: number | null; output: string }> {
    const file = join(folder, 'Client.java');
    await writeFile(file, JAVA_CLIENT);
    const child = spawn('java', [file, url, gateway.token]);
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => (output += text));
    const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
    return { code, output };
  }

  ifThere('nginx')('nginx with the snippet that always sends "Connection: upgrade"', async () => {
    const snippet = 'proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection "upgrade";';
    balancer = await startNginx(folder, [upstream()], { more: snippet });
    await expectServed(balancer.base);
    const port = Number(new URL(balancer.base).port);
    const connection = await RawConnection.open(port);
    connection.send(jsonRequest('POST', SESSIONS, { ...authorization, ...H2C }, USER));
    expect((await connection.answer({ withinMs: 10_000 })).status).toBe(201);
    connection.close();
  });

  ifThere('haproxy')('HAProxy, which hands on what its clients ask for', async () => {
    balancer = await startHaproxy(folder, [upstream()]);
    await expectServed(balancer.base);
    const connection = await RawConnection.open(Number(new URL(balancer.base).port));
    for (let time = 0; time < 3; time += 1) {
      connection.send(jsonRequest('POST', SESSIONS, { ...authorization, ...H2C }, USER));
      expect((await connection.answer({ withinMs: 10_000 })).status).toBe(201);
    }
    connection.close();
  });

  ifThere('java')(
    'the JDK’s HttpClient as it comes, which asks for h2c',
    async () => {
      const { code, output } = await java(`http://127.0.0.1:${gateway.started.ports.b}${SESSIONS}`);
      expect([code, output.trim().split('\n')]).toEqual([0, ['200', '201', '201', '200']]);
    },
    60_000,
  );
});

const JAVA_CLIENT = `
import java.net.URI;
import java.net.http.*;

class Client {
  public static void main(String[] args) throws Exception {
    HttpClient client = HttpClient.newHttpClient();
    for (String body : new String[] {null, "{\\"user_id\\":\\"ada\\"}", "{}", null}) {
      HttpRequest.Builder ask = HttpRequest.newBuilder(URI.create(args[0]))
        .header("Authorization", "Bearer " + args[1]).header("Content-Type", "application/json");
      if (body != null) ask.POST(HttpRequest.BodyPublishers.ofString(body));
      System.out.println(client.send(ask.build(), HttpResponse.BodyHandlers.ofString()).statusCode());
    }
  }
}
`;
