import { startTestGateway, type TestGateway } from '../../harness/gateway.js';

interface Page {
  items: { id: string; name: string }[];
  next_cursor: string | null;
}
interface Refusal {
  error: { code: string; message: string; details: { reason?: string; fields?: { path: string }[] } | null };
}

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
  for (let i = 0; i < 7; i += 1) await gateway.mint({ name: `t${i}` });
});
afterAll(() => gateway.stop());

const at = (port: 'a' | 'b') => gateway.adminCaller(gateway.token, port);

describe.each(['a', 'b'] as const)("the operators' API on the port of Profile %s", (port) => {
  test('answers in the envelope of Profile B and in snake_case, also where there is no such path', async () => {
    const missing = await at(port).get<Refusal>('/nothing');
    expect([missing.status, missing.body]).toEqual([
      404,
      {
        error: {
          code: 'not_found',
          message: 'There is no such path here. GET /admin/v1/openapi.json lists what there is.',
          details: null,
        },
      },
    ]);
    const method = await at(port).send<Refusal>('PUT', '/tokens');
    expect([method.status, method.headers.get('allow'), method.body.error.details]).toEqual([
      405,
      'GET, HEAD, POST',
      null,
    ]);
    const stranger = await gateway.adminCaller(undefined, port).get<Refusal>('/tokens');
    expect([stranger.status, stranger.body.error.details]).toEqual([401, null]);
    const shouted = await fetch(`http://127.0.0.1:${gateway.started.ports[port]}/ADMIN/V1/Tokens`);
    expect(await shouted.json()).toHaveProperty('error.details', null);
  });

  test('pages are "{items, next_cursor}, limit 1 to 500, default 50", and lose nothing when items are added meanwhile', async () => {
    const all = await at(port).get<Page>('/tokens');
    expect([all.status, all.body.next_cursor]).toEqual([200, null]);
    const seen: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const page: Page = (
        await at(port).get<Page>(`/tokens?limit=3${cursor === '' ? '' : `&cursor=${cursor}`}`)
      ).body;
      expect(page.items.length).toBeLessThanOrEqual(3);
      seen.push(...page.items.map(({ id }) => id));
      if (cursor === '') await gateway.mint({ name: 'meanwhile' });
      cursor = page.next_cursor;
    }
    expect(seen).toEqual(all.body.items.map(({ id }) => id));
  });

  test.each(['0', '501', '-1', '1.5', 'many', ''])('limit=%s is 400', async (limit) => {
    const { status, body } = await at(port).get<Refusal>(`/tokens?limit=${limit}`);
    expect([status, body.error.details?.fields?.[0]?.path]).toEqual([400, 'limit']);
  });

  test('a cursor that this list did not make is 400', async () => {
    const { next_cursor } = (await at(port).get<Page>('/tokens?limit=1')).body;
    const [sum, at1, id] = JSON.parse(Buffer.from(next_cursor!, 'base64url').toString()) as string[];
    const forged = (parts: unknown) => Buffer.from(JSON.stringify(parts)).toString('base64url');
    for (const cursor of [
      'x',
      forged([]),
      forged([sum, at1]),
      forged([sum, at1, `${id}0`]),
      forged([sum, '2020-01-01T00:00:00.000Z', id]),
      forged([sum, 'infinity', id]),
      forged({ sum }),
      `${next_cursor}&cursor=${next_cursor}`,
      'y'.repeat(2000),
    ]) {
      const { status, body } = await at(port).get<Refusal>(`/tokens?cursor=${cursor}`);
      expect([cursor, status, body.error.details?.fields?.[0]?.path]).toEqual([cursor, 400, 'cursor']);
    }
  });

  test('bound callers "get 403 elsewhere", and an unknown field of a query is 400', async () => {
    const bound = gateway.adminCaller(await gateway.mint({ user: 'ada' }), port);
    const { status, body } = await bound.get<Refusal>('/tokens');
    expect([status, body.error.details?.reason]).toEqual([403, 'token_bound_to_user']);
    expect((await at(port).get('/tokens?offset=3')).status).toBe(400);
  });

  test('every answer has the rate headers of its tier', async () => {
    const { headers } = await at(port).get('/tokens');
    expect(headers.get('x-ratelimit-limit')).not.toBeNull();
  });
});

test('"each can be switched off": without the face its paths are 404, with B envelope still', async () => {
  const bare = await startTestGateway({ env: { GATEWAY__GATEWAY__FACES: '[]' } });
  try {
    const { status, body } = await bare.admin.get<Refusal>('/tokens');
    expect([status, body.error.details]).toEqual([404, null]);
    expect((await bare.admin.get('/openapi.json')).status).toBe(404);
    expect((await bare.a.get('/sessions')).status).toBe(200);
  } finally {
    await bare.stop();
  }
});

test('an unknown face is refused by its name', async () => {
  await expect(startTestGateway({ env: { GATEWAY__GATEWAY__FACES: '["admin","telnet"]' } })).rejects.toThrow(
    /gateway\.faces/,
  );
});

test('the face is served when only one profile is on', async () => {
  const one = await startTestGateway({ env: { GATEWAY__GATEWAY__PROFILES: '["b"]' } });
  try {
    expect((await one.adminCaller(one.token, 'b').get('/tokens')).status).toBe(200);
  } finally {
    await one.stop();
  }
});
