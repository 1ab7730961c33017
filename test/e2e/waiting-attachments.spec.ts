import { request } from 'node:http';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createTestDatabase, type TestDatabase } from '../harness/database.js';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';

const ATTACHED_BYTES = 9 * 2 ** 20;

let database: TestDatabase;
let gateway: TestGateway;
beforeAll(async () => {
  database = await createTestDatabase();
  gateway = await startTestGateway({ database });
});
afterAll(async () => {
  await gateway.stop();
  await database.drop();
});

/** Bytes of all reachable strings, objects and buffers. */
function reachableBytes(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/** A tool that answers when it is told to. */
function slowTool(name: string): () => void {
  let release = (): void => undefined;
  const released = new Promise<string>((resolve) => {
    release = () => resolve('done');
  });
  gateway.tools.register({
    name,
    description: 'Takes its time.',
    inputSchema: { type: 'object', properties: {} },
    run: () => released,
  });
  return release;
}

interface Large {
  readonly url: string;
  /** The body before and after the base64. */
  readonly head: string;
  readonly tail: string;
}
const ofRest = (id: string): Large => ({
  url: `${gateway.b.base}/sessions/${id}/messages`,
  head: '{"content":"Later","attachments":[{"type":"file","mime_type":"text/plain","data":"',
  tail: '"}]}',
});
const ofA2a = (contextId: string): Large => ({
  url: new URL('/a2a', gateway.b.base).href,
  head: `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"later","role":"ROLE_USER","contextId":"${contextId}","parts":[{"text":"Later"},{"mediaType":"text/plain","raw":"`,
  tail: '"}]}}}',
});

/**
 * Sends a message with a large attachment in chunks, and keeps nothing of it.
 * @returns the status of the response
 */
function sendLarge({ url, head, tail }: Large): Promise<number | undefined> {
  const piece = Buffer.alloc(3 * 2 ** 16, 'x').toString('base64');
  return new Promise((resolve, reject) => {
    const headers = {
      ...{ Authorization: `Bearer ${gateway.token}`, 'Content-Type': 'application/json' },
      'A2A-Version': '1.0',
    };
    const post = request(url, { method: 'POST', headers }, (response) => {
      response.resume().once('end', () => resolve(response.statusCode));
    });
    post.once('error', reject).write(head);
    for (let sent = 0; sent < ATTACHED_BYTES; sent += 3 * 2 ** 16) post.write(piece);
    post.end(tail);
  });
}

test.each([
  [
    'a message that waits holds the bytes of its attachments once, and not their base64 too',
    'slow',
    ofRest,
    1.2,
  ],
  ['a message of A2A, which is stored before it waits, holds nothing of them', 'slower', ofA2a, 0.2],
])('%s', async (_what, tool, large, share) => {
  const { id } = (await gateway.b.post<{ id: string }>('/sessions', {})).body;
  const release = slowTool(tool);
  const first = gateway.b.post(`/sessions/${id}/messages`, { content: `/call ${tool} {}` });
  const turns = (status: string) =>
    database.query(`SELECT id FROM turns WHERE session_id = $1 AND status = $2`, [id, status]);
  await eventually(async () => expect(await turns('running')).toHaveLength(1));
  const before = reachableBytes();
  const second = sendLarge(large(id));
  await eventually(async () => expect(await turns('waiting')).toHaveLength(1));
  await eventually(() => expect(reachableBytes() - before).toBeLessThan(share * ATTACHED_BYTES));
  release();
  expect((await first).status).toBe(200);
  expect(await second).toBe(200);
});
