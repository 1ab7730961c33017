import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { neighbour } from '../../bench/harness/neighbour.js';
import { HooksService } from '../../src/areas/hooks/hooks.service.js';
import { MessagesService } from '../../src/areas/sessions/messages.service.js';
import { LEASE_SECS } from '../../src/areas/turns/turn-lease.js';
import type { Caller } from '../../src/platform/tokens/caller.js';
import { TokensService } from '../../src/platform/tokens/tokens.service.js';
import { createTestDatabase, type TestDatabase } from '../harness/database.js';
import { eventually } from '../harness/eventually.js';
import { figure } from '../harness/figure.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { ProcessBench } from '../harness/gateway-process.js';
import { HookReceiver } from '../harness/hook-receiver.js';
import type { HttpCaller } from '../harness/http-caller.js';
import { wires } from '../harness/provider-wires.js';
import {
  beginStream,
  type Script,
  type ScriptedProvider,
  startScriptedProvider,
} from '../harness/scripted-provider.js';
import { SocketClient } from '../harness/socket-client.js';
import { newSession, providerEnv, TurnStream } from '../harness/turn-stream.js';

jest.setTimeout(90_000);

/**
 * The promise is 1.5 s, and the figure shows the time. A machine that is busy with other things may take twice as
 * long.
 */
const WITHIN_MS = 3000;
/** The communication between processes takes this many turns on a core, and each is late on a busy machine. */
const TURNS = 10;
/** For repeated checks. */
const TIMEOUT_MS = 15_000;

interface Item {
  readonly message_id: string;
  readonly role: string;
  readonly content: string;
  readonly incomplete?: string;
}
interface Refused {
  readonly error: { readonly details: { readonly reason: string } };
}
interface HookRow {
  readonly active: boolean;
  readonly inactive_reason: string | null;
}

const processes = new ProcessBench();
let database: TestDatabase;
let provider: ScriptedProvider;
let receiver: HookReceiver;
let one: TestGateway;
let two: TestGateway;
const sockets: SocketClient[] = [];
const streams: TurnStream[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  provider = await startScriptedProvider();
  receiver = await HookReceiver.open();
  const start = () => startTestGateway({ database, env: providerEnv(provider) });
  [one, two] = await Promise.all([start(), start()]);
});
afterEach(() => {
  for (const { socket } of sockets.splice(0)) socket.terminate();
  for (const stream of streams.splice(0)) stream.close();
});
afterAll(async () => {
  await Promise.all([one.stop(), two.stop()]);
  await Promise.all([provider.stop(), receiver.close(), processes.clear()]);
  await database.drop();
});

/** Repeats the message at once. When asked to be held, it sends a beginning, and the end when `release` is called. */
let release: () => void = () => undefined;
beforeEach(() => {
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const script: Script = async (response, { body }) => {
    const said = JSON.stringify((body['messages'] as { content: unknown }[]).at(-1)?.content);
    const [wire] = wires;
    beginStream(response, ...(wire?.opening ?? []), wire?.text(`To ${said}`) ?? '');
    if (said.includes('hold')) await held;
    beginStream(response, ...(wire?.closing ?? []));
    response.end();
  };
  provider.script(script);
});

const later = { prefer: 'respond-async' };
const tokens = () => one.started.app.get(TokensService, { strict: false });
const path = (sessionId: string) => `/sessions/${sessionId}/messages`;
const history = async (sessionId: string) =>
  (await one.b.get<{ messages: Item[] }>(path(sessionId))).body.messages;

async function register(caller: HttpCaller, at: string, events = ['*']): Promise<string> {
  const { status, body } = await caller.post<{ id: string }>('/hooks', { url: receiver.url(at), events });
  expect(status).toBe(201);
  return body.id;
}

async function hookRow(id: string): Promise<HookRow | undefined> {
  return (await database.query<HookRow>('SELECT active, inactive_reason FROM hooks WHERE id = $1', [id]))[0];
}

async function stream(gateway: TestGateway, token: string, at: string): Promise<TurnStream> {
  const opened = await TurnStream.open(`${gateway.b.base}${at}`, token);
  expect(opened.response.status).toBe(200);
  streams.push(opened);
  return opened;
}

async function socket(gateway: TestGateway, token: string, sessionId: string): Promise<SocketClient> {
  const client = await SocketClient.open(
    `ws://127.0.0.1:${gateway.started.ports.b}/ws/sessions/${sessionId}`,
    {
      headers: { authorization: `Bearer ${token}` },
    },
  );
  sockets.push(client);
  return client;
}

/** A token, and its callers on each replica. */
async function made(name: string) {
  const token = await one.mint({ name });
  return { token, onOne: one.caller('b', token), onTwo: two.caller('b', token) };
}

async function callerOf(name: string): Promise<Caller> {
  const [row] = await database.query<{ id: string }>(
    `SELECT id FROM api_tokens WHERE name = $1 ORDER BY created_at DESC`,
    [name],
  );
  return { tokenId: row?.id ?? '', tokenName: name, scopes: ['*'], boundUserId: null };
}

describe('the revocation of a token, here with the command line', () => {
  test('ends its webhooks, what it has waiting, its turns and its streams on all replicas, and nothing of others', async () => {
    const { token, onOne, onTwo } = await made('maker');
    const hook = await register(onTwo, '/made');
    const watching = await register(one.b, '/others', ['error.occurred']);
    const [busy, elsewhere, watched] = await Promise.all([newSession(one), newSession(one), newSession(one)]);
    const running = onOne.post(path(busy), { content: 'hold one' });
    const runningElsewhere = onTwo.post(path(elsewhere), { content: 'hold two' });
    await eventually(async () => {
      for (const id of [busy, elsewhere]) expect(await history(id)).toHaveLength(1);
    });
    expect((await onTwo.post(path(busy), { content: 'never first' }, later)).status).toBe(202);
    expect((await one.b.post(path(busy), { content: 'mine' }, later)).status).toBe(202);
    expect((await onOne.post(path(busy), { content: 'never second' }, later)).status).toBe(202);
    const waiting = onTwo.post(path(busy), { content: 'never third' });
    await eventually(async () => {
      const rows = await database.query(`SELECT 1 FROM turns WHERE session_id = $1 AND status = 'waiting'`, [
        busy,
      ]);
      expect(rows).toHaveLength(4);
    });
    const open = await Promise.all([
      stream(one, token, path(watched)),
      stream(two, token, path(watched)),
      stream(one, token, '/logs/stream'),
      stream(two, token, '/logs/stream'),
    ]);
    const talking = await Promise.all([socket(one, token, watched), socket(two, token, watched)]);
    const mine = await stream(two, two.token, path(watched));

    const revoked = await processes.run(['auth', 'token', 'revoke', 'maker'], {
      env: { DATABASE_URL: database.url },
    });
    expect([revoked.code, revoked.stderr]).toEqual([0, expect.stringContaining('is revoked')]);
    const at = performance.now();
    const machine = neighbour(`http://127.0.0.1:${one.started.ports.operations}/livez`);

    // In the same transaction as the revocation, so what is stored ends at the same moment.
    expect(await hookRow(hook)).toEqual({ active: false, inactive_reason: 'token_revoked' });
    const [{ n } = { n: -1 }] = await database.query<{ n: number }>(
      `SELECT count(*)::int AS n FROM turns WHERE session_id = $1 AND status = 'waiting' AND caller->>'tokenName' = 'maker'`,
      [busy],
    );
    expect(n).toBe(0);

    const answers = await Promise.all([running, runningElsewhere, waiting]);
    expect(answers.map(({ status, body }) => [status, (body as { error: object }).error])).toEqual([
      [409, expect.objectContaining({ details: { reason: 'token_revoked' } })],
      [409, expect.objectContaining({ details: { reason: 'token_revoked' } })],
      [401, expect.objectContaining({ details: { reason: 'token_revoked' } })],
    ]);
    await eventually(
      () => expect(open.map(({ ended }) => ended)).toEqual([true, true, true, true]),
      TIMEOUT_MS,
    );
    await eventually(
      () => expect(talking.map(({ closed }) => closed?.code)).toEqual([1008, 1008]),
      TIMEOUT_MS,
    );
    const tookMs = performance.now() - at;
    figure(['revoked-tokens'], {
      ended_everywhere_after_s: Math.round(tookMs) / 1000,
      replicas: 2,
      what: 'turns, waiting messages, streams, WebSockets',
    });
    expect(tookMs).toBeLessThan(WITHIN_MS + TURNS * (await machine.stop()).lagMs);
    expect(mine.ended).toBe(false);

    // The session continues with the messages of others. Accepted messages without an answer are in the history.
    await eventually(async () => expect((await history(busy)).at(-1)?.content).toBe('To "mine"'));
    expect((await history(busy)).map(({ content, incomplete }) => [content, incomplete])).toEqual([
      ['hold one', undefined],
      ['never first', undefined],
      ['never second', undefined],
      ['To "hold one"', 'cancelled'],
      ['mine', undefined],
      ['To "mine"', undefined],
    ]);
    expect(
      JSON.stringify(provider.requests.map(({ body }) => (body['messages'] as object[]).at(-1))),
    ).not.toContain('never');
    const told = () => receiver.bodies('/others').map(({ data }) => data);
    await eventually(() =>
      expect(told()).toContainEqual({ source: 'hook', reason: 'hook_token_revoked', hook_id: hook }),
    );
    const quietSince = receiver.bodies('/made').length;
    await newSession(one);
    await sleep(1500);
    expect(receiver.bodies('/made')).toHaveLength(quietSince);
    await one.b.delete(`/hooks/${watching}`);
  });

  test.each([
    ['a first attempt', 'hanging', 1],
    ['a retry', 'failing', 2],
  ])(
    'breaks off %s that is on its way, and lets no one make the hook active again',
    async (_what, name, which) => {
      const { onOne } = await made(name);
      let cut = false;
      receiver.behaviour = ({ path: at }, response) => {
        if (at !== `/${name}`) return 200;
        if (receiver.bodies(at).length < which) return 500;
        response.on('close', () => {
          cut = true;
        });
        return 'handled';
      };
      const hook = await register(onOne, `/${name}`, ['session.created']);
      await newSession(one);
      await eventually(() => expect(receiver.bodies(`/${name}`)).toHaveLength(which), 20_000);
      await tokens().revoke(name);
      await eventually(() => expect(cut).toBe(true), WITHIN_MS);
      receiver.behaviour = () => 200;
      const env = { DATABASE_URL: database.url };
      for (const command of ['replay', 'ping']) {
        const said = await processes.run(['hooks', command, hook], { env });
        expect([said.code, said.stderr]).toEqual([1, expect.stringContaining('ended when the token')]);
      }
      expect(await hookRow(hook)).toEqual({ active: false, inactive_reason: 'token_revoked' });
    },
  );

  test('frees the places of its hooks', async () => {
    await database.query(
      `INSERT INTO hooks (id, url, events, active, inactive_reason)
       SELECT 'hook_full_' || n, 'https://example.com', '{*}', false, 'token_revoked' FROM generate_series(1, 100) AS n`,
    );
    const { onOne } = await made('after');
    expect(await hookRow(await register(onOne, '/after', ['session.idle']))).toMatchObject({ active: true });
    await database.query(`DELETE FROM hooks WHERE id LIKE 'hook_full_%'`);
  });

  test('is not outrun by a request that was let in before it', async () => {
    await made('late');
    const caller = await callerOf('late');
    const [hooks, messages] = [HooksService, MessagesService].map((service) =>
      two.started.app.get<HooksService & MessagesService>(service, { strict: false }),
    ) as unknown as [HooksService, MessagesService];
    const busy = await newSession(one);
    const mine = one.b.post(path(busy), { content: 'hold' });
    await eventually(async () => expect(await history(busy)).toHaveLength(1));
    await tokens().revoke('late');
    const wish = { url: receiver.url('/late'), events: ['*'] };
    await expect(hooks.register(wish, caller)).rejects.toMatchObject({ status: 401 });
    expect(await database.query('SELECT 1 FROM hooks WHERE url LIKE $1', ['%/late'])).toEqual([]);
    const message = { content: 'too late', attachments: [] };
    await expect(messages.accept(busy, message, caller)).rejects.toMatchObject({ status: 401 });
    await expect(messages.start(busy, message, caller)).rejects.toMatchObject({ status: 401 });
    const free = await newSession(one);
    const begun = await messages.start(free, { content: 'hold', attachments: [] }, caller);
    await expect(begun.answer).rejects.toMatchObject({ details: { reason: 'token_revoked' } });
    release();
    expect((await mine).status).toBe(200);
    expect(await history(busy)).toHaveLength(2);
  });

  test('reaches a waiting message even when its place is checked before the token of its caller', async () => {
    const { onOne } = await made('kept waiting');
    const busy = await newSession(one);
    const mine = one.b.post(path(busy), { content: 'hold' });
    await eventually(async () => expect(await history(busy)).toHaveLength(1));
    const waiting = onOne.post<Refused>(path(busy), { content: 'never' });
    const places = `SELECT 1 FROM turns WHERE session_id = $1 AND status = 'waiting'`;
    await eventually(async () => expect(await database.query(places, [busy])).toHaveLength(1));
    const operator = new Client({ connectionString: database.directUrl });
    await operator.connect();
    // Only messages that wait read what their token has spent, so the lock affects nothing else here.
    await operator.query('BEGIN; LOCK TABLE token_spending');
    await tokens().revoke('kept waiting');
    await sleep((LEASE_SECS * 1000) / 2);
    await operator.end();
    const { status, body } = await waiting;
    expect([status, body.error.details]).toEqual([401, { reason: 'token_revoked' }]);
    release();
    expect((await mine).status).toBe(200);
  });

  test('its expiry ends nothing', async () => {
    const token = await one.mint({ name: 'short', expiresAt: new Date(Date.now() + 1500) });
    const hook = await register(one.caller('b', token), '/short', ['session.created']);
    await eventually(async () => expect((await one.caller('b', token).get('/hooks')).status).toBe(401));
    const before = receiver.bodies('/short').length;
    await newSession(one);
    await eventually(() => expect(receiver.bodies('/short').length).toBeGreaterThan(before));
    await tokens().revoke('short');
    expect(await hookRow(hook)).toEqual({ active: false, inactive_reason: 'token_revoked' });
  });
});

describe('rotation', () => {
  test('hands everything to the new token, whose revocation ends it', async () => {
    const { onOne, onTwo, token } = await made('heir');
    const hook = await register(onOne, '/heir', ['session.created']);
    const busy = await newSession(one);
    const running = onOne.post(path(busy), { content: 'hold' });
    await eventually(async () => expect(await history(busy)).toHaveLength(1));
    expect((await onTwo.post(path(busy), { content: 'kept' }, later)).status).toBe(202);
    const key = { 'idempotency-key': 'once' };
    const first = await onOne.post<{ id: string }>('/sessions', {}, key);

    const { secret } = await tokens().rotate('heir', {});
    const heir = two.caller('b', secret);
    await eventually(async () => expect((await one.caller('b', token).get('/sessions')).status).toBe(401));
    const again = await heir.post<{ id: string }>('/sessions', {}, key);
    expect([again.body.id, again.headers.get('idempotency-replayed')]).toEqual([first.body.id, 'true']);
    const before = receiver.bodies('/heir').length;
    await newSession(one);
    await eventually(() => expect(receiver.bodies('/heir').length).toBeGreaterThan(before));
    await sleep(1500);
    release();
    expect((await running).status).toBe(200);
    await eventually(async () => expect((await history(busy)).at(-1)?.content).toBe('To "kept"'));

    await tokens().revoke('heir');
    expect(await hookRow(hook)).toEqual({ active: false, inactive_reason: 'token_revoked' });
  });

  test('of a token that is kept for a while: what it made ends with the new one, and so does the old one', async () => {
    const { onOne } = await made('kept');
    const hook = await register(onOne, '/kept');
    const old = await callerOf('kept');
    const { token: heir } = await tokens().rotate('kept', { keepOldSecs: 3600 });
    expect((await onOne.get('/hooks')).status).toBe(200);
    await tokens().revoke(heir.id);
    expect(await hookRow(hook)).toEqual({ active: false, inactive_reason: 'token_revoked' });
    const kept = (await tokens().list()).find(({ id }) => id === old.tokenId);
    expect(kept?.revokedAt).toBeInstanceOf(Date);
  });

  test('the old one can be revoked before its time, and takes nothing along', async () => {
    const { onOne } = await made('leaked');
    const hook = await register(onOne, '/leaked');
    const old = await callerOf('leaked');
    const { secret } = await tokens().rotate('leaked', { keepOldSecs: 3600 });
    await tokens().revoke(old.tokenId);
    expect(await hookRow(hook)).toEqual({ active: true, inactive_reason: null });
    expect((await one.caller('b', secret).get('/hooks')).status).toBe(200);
  });
});
