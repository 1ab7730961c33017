import { once } from 'node:events';
import { createServer, get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import express, { type Response } from 'express';
import { eventually } from '../../../../test/harness/eventually.js';
import { NotFound, Unauthorized, Unavailable } from '../../../common/errors/gateway-error.js';
import type { GatewayRequest } from '../../../http/gateway-request.js';
import { JsonLogs } from '../../../platform/logging/json-logs.js';
import { silentLogs } from '../../../platform/logging/logger.js';
import { Redactor } from '../../../platform/logging/redactor.js';
import { settingsSchema } from '../../../platform/settings/settings.schema.js';
import type { Caller } from '../../../platform/tokens/caller.js';
import { Viewers, type WatchedTurn } from '../../live/live.api.js';
import { LAST_STEP, type Message, TurnHandedOver } from '../../turns/turns.api.js';
import { AskTools } from '../ask-tools.service.js';
import { AskedTurns } from '../asked-turns.service.js';
import { callEventId } from '../call-ids.js';
import { ResumedCalls } from '../resumed-calls.service.js';
import { McpHandlers } from './mcp.handlers.js';

const CALLER: Caller = { tokenId: 'tok_x', tokenName: 'x', scopes: ['*'], boundUserId: null };
/** More than the kernel buffers for a caller that reads nothing. */
const LARGE = 'x'.repeat(16 * 1_048_576);

let stallMs: number;
let turn: WatchedTurn | undefined;
let steps = 0;
const lines: string[] = [];
let response: Response;
const settings = {
  get current() {
    return settingsSchema.parse({ streaming: { stall_ms: stallMs } });
  },
};
const viewers = new Viewers(settings, silentLogs);
/** A part that stands in for one of the gateway: it has what is asked of it here. */
const found = <Part>(part: object): Part => part as Part;
type Parts = ConstructorParameters<typeof AskedTurns>;
const asked = new AskedTurns(
  found<Parts[0]>({ find: () => Promise.resolve({}) }),
  found<Parts[1]>({}),
  found<Parts[2]>({}),
  found<Parts[3]>({ of: () => Promise.resolve({ turnId: 'turn' }) }),
  found<Parts[4]>({ find: () => Promise.resolve({ sessionId: 'sess' }) }),
  found<Parts[5]>({
    show: (watched: WatchedTurn) => {
      turn = watched;
      return Promise.resolve();
    },
  }),
  viewers,
);
type Handlers = ConstructorParameters<typeof McpHandlers>;
const handlers = new McpHandlers(
  found<Handlers[0]>({}),
  new ResumedCalls(new AskTools(asked, settings), asked),
  found<Handlers[2]>({ mayGoOn: () => Promise.resolve(true) }),
  new JsonLogs({ level: 'info', redactor: new Redactor(), write: (line) => lines.push(line) }),
);

const app = express();
app.get('/mcp', (request, given) => {
  response = given;
  return handlers.get(CALLER, request as GatewayRequest, given);
});
const server = createServer(app);
beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(async () => {
  viewers.onModuleDestroy();
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});

/** A caller that comes back to a call, has the head and has read nothing of the stream yet. */
async function comesBack(position = 1): Promise<IncomingMessage> {
  turn = undefined;
  steps = 0;
  const event = callEventId({ requestId: 1, progressToken: 'p', position });
  const headers = { accept: 'text/event-stream', 'mcp-session-id': 's', 'last-event-id': event };
  const { port } = server.address() as AddressInfo;
  const [message] = (await once(get({ port, path: '/mcp', headers }), 'response')) as [IncomingMessage];
  await eventually(() => expect(turn).toBeDefined());
  return message;
}

function calls(...tools: string[]): void {
  for (const name of tools)
    turn?.write({ type: 'tool_call', id: 'c', name, arguments: {} }, 'turn', { chars: 0, steps: ++steps });
}

function end(): void {
  const message = { id: 'msg_1', content: 'Done.' } as Message;
  turn?.write({ type: 'done', message }, 'turn', { chars: 0, steps: LAST_STEP });
}

/** The position and the message of each progress, and at last those of the answer. */
async function read(message: IncomingMessage): Promise<(readonly [number, string])[]> {
  const all = await text(message);
  return all
    .split('\n\n')
    .filter((event) => event !== '' && !event.endsWith('data: '))
    .map((event) => {
      const [id, data] = event.split('\n').slice(-2) as [string, string];
      const said = JSON.parse(data.slice('data: '.length)) as Said;
      if (said.error !== undefined) return [Number(id.split('.').at(-1)), said.error.message] as const;
      return [
        Number(id.split('.').at(-1)),
        said.params?.message ?? said.result?.content[0]?.text ?? '',
      ] as const;
    });
}

interface Said {
  readonly params?: { readonly message: string };
  readonly error?: { readonly code: number; readonly message: string };
  readonly result?: { readonly content: readonly { readonly text: string }[] };
}

test('a caller that came back to a call and reads nothing of its progress is cut', async () => {
  stallMs = 500;
  const message = await comesBack();
  expect(viewers.count).toBe(1);
  calls('seen', LARGE);
  await eventually(() => expect(viewers.count).toBe(0));
  await expect(text(message)).rejects.toThrow('aborted');
});

test('one that reads gets all progress after that which it has seen, and the answer', async () => {
  stallMs = 60_000;
  const message = await comesBack();
  calls('seen', 'one', 'two');
  end();
  expect(await read(message)).toEqual([
    [2, 'Calls one'],
    [3, 'Calls two'],
    [4, 'Done.'],
  ]);
});

test('one that does not keep up is spared the progress meanwhile, and gets what comes later under its own position', async () => {
  stallMs = 60_000;
  const message = await comesBack();
  calls('seen', LARGE, 'missed', 'missed');
  const events = read(message);
  await eventually(() => expect(response.writableLength).toBe(0));
  calls('late');
  end();
  expect((await events).slice(1)).toEqual([
    [5, 'Calls late'],
    [6, 'Done.'],
  ]);
});

test('text that comes in one piece counts as far as it goes, so that nothing is left out after it', async () => {
  stallMs = 60_000;
  const message = await comesBack(300);
  const say = (text: string, chars: number) =>
    turn?.write({ type: 'token', text }, 'turn', { chars, steps: 0 });
  say('x'.repeat(300), 300);
  say(' and more', 309);
  end();
  expect((await read(message)).map(([position]) => position)).toEqual([309, 310]);
});

test.each([
  ['its token ended', new Unauthorized('The access token ended.'), false],
  ['the database is away', new Unavailable('No database.'), false],
  ['this replica stops', new TurnHandedOver(), false],
  ['the session was deleted', new NotFound('No such session.'), true],
])(
  'what keeps an answer from one that came back is its answer only when it will not pass: %s',
  async (_why, error, isFinal) => {
    stallMs = 60_000;
    const message = await comesBack();
    let all = '';
    message.on('data', (piece: Buffer) => {
      all += piece.toString();
    });
    const reading = read(message);
    reading.catch(() => undefined);
    // A client that is cut before anything else comes back with the id that it has.
    await eventually(() => expect(all).toMatch(/^id: [\w-]+\.1\nretry: 1000\ndata: \n\n/));
    turn?.fail(error);
    if (isFinal) expect(await reading).toEqual([[2, expect.stringContaining('No such session.')]]);
    else await expect(reading).rejects.toThrow('aborted');
  },
);

test('what the turn itself failed with is its answer', async () => {
  stallMs = 60_000;
  const message = await comesBack();
  const error = new Unavailable('The provider does not answer.');
  turn?.write({ type: 'error', error }, 'turn', { chars: 0, steps: LAST_STEP });
  expect(await read(message)).toEqual([[2, expect.stringContaining('The provider does not answer.')]]);
});

test('a fault of ours is logged and ends the call, so that nobody comes back for it', async () => {
  stallMs = 60_000;
  const message = await comesBack();
  turn?.fail(new TypeError('cannot read that'));
  expect(await read(message)).toEqual([[2, 'Internal error']]);
  expect(lines.join()).toMatch(
    /a call that was cut could not go on.*cannot read that|cannot read that.*could not go on/,
  );
});
