import { createServer, type Server } from 'node:net';
import { createTestDatabase, type TestDatabase } from '../harness/database.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';

/** A port that is already in use, as by the first replica of a machine. */
async function takenPort(): Promise<{ port: number; server: Server }> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return { port: address.port, server };
}

let database: TestDatabase;
let taken: { port: number; server: Server };
beforeAll(async () => {
  database = await createTestDatabase();
  taken = await takenPort();
});
afterAll(async () => {
  taken.server.close();
  await database.drop();
});

const warnings = ({ logLines }: TestGateway): string[] =>
  logLines.filter((line) => line.includes('is not used by this replica'));

test('a stored port moves no replica that names its own, and the log says what wins where', async () => {
  const first = await startTestGateway({ database });
  try {
    const { status, body } = await first.b.patch('/config', { 'gateway.port': taken.port });
    expect([status, body]).toEqual([200, { updated: ['gateway.port'], reload_required: true }]);
    expect(warnings(first)).toHaveLength(1);
    expect(warnings(first)[0]).toContain(
      `the stored gateway.port = ${taken.port} is not used by this replica`,
    );
    expect(warnings(first)[0]).toContain('GATEWAY__GATEWAY__PORT says 0');
    // Another change does not repeat the warning.
    expect((await first.b.patch('/config', { 'memory.top_k': 3 })).body).toEqual({
      updated: ['memory.top_k'],
      reload_required: false,
    });
    expect(warnings(first)).toHaveLength(1);

    const second = await startTestGateway({ database });
    try {
      expect(second.started.ports.b).not.toBe(taken.port);
      expect((await second.b.get('/status/health')).status).toBe(200);
      expect(warnings(second)).toHaveLength(1);
    } finally {
      await second.stop();
    }
  } finally {
    await first.stop();
  }
});

test('a stored host that no machine has stops no replica: it starts where it would without, and the log says so', async () => {
  const first = await startTestGateway({ database });
  try {
    const { status, body } = await first.b.patch('/config', { 'gateway.management_host': '192.0.2.7' });
    expect([status, body]).toEqual([200, { updated: ['gateway.management_host'], reload_required: true }]);
    const second = await startTestGateway({ database });
    try {
      expect((await second.b.get('/status/health')).status).toBe(200);
      const warned = second.logLines.filter((line) => line.includes('is not an address of this machine'));
      expect(warned).toHaveLength(1);
      expect(warned[0]).toContain('the stored gateway.management_host = 192.0.2.7');
    } finally {
      await second.stop();
    }
  } finally {
    await first.stop();
  }
});

// Other systems have one loopback address.
const onLinux = process.platform === 'linux' ? test : test.skip;
onLinux(
  'the operations port binds where gateway.management_host says, the API where gateway.host says',
  async () => {
    const gateway = await startTestGateway({ env: { GATEWAY__GATEWAY__MANAGEMENT_HOST: '127.0.0.2' } });
    try {
      const { a, operations } = gateway.started.ports;
      expect((await fetch(`http://127.0.0.2:${operations}/livez`)).status).toBe(200);
      await expect(fetch(`http://127.0.0.1:${operations}/livez`)).rejects.toThrow();
      expect((await fetch(`http://127.0.0.1:${a}/api/v1/health`)).status).toBe(200);
    } finally {
      await gateway.stop();
    }
  },
);
