import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  KINDS,
  MODELS,
  type Model,
  matrixTables,
  outcomeOf,
  PLATFORMS,
  type Platform,
  type SentKind,
  sentAs,
} from '../harness/attachment-matrix.js';
import { channelEnv, telegramEnv, untilChannel } from '../harness/channels.js';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { postSigned } from '../harness/inbound.js';
import { type Script, type ScriptedProvider, startScriptedProvider } from '../harness/scripted-provider.js';
import { slackEnv, TestSlack } from '../harness/slack.js';
import { TestTeams, teamsEnv } from '../harness/teams.js';
import { TestTelegram } from '../harness/telegram.js';
import { saysOnEveryWire, threeModelsEnv } from '../harness/three-models.js';

const SECRET = 'a secret of sixteen bytes';
const TOO_LARGE = 21 * 1_048_576;

let telegram: TestTelegram;
let slack: TestSlack;
let teams: TestTeams;
let provider: ScriptedProvider;
let files: Files;
let gateway: TestGateway;
let room: string;
let count = 0;
beforeAll(async () => {
  [telegram, slack, teams, provider, files] = await Promise.all([
    TestTelegram.start(),
    TestSlack.start(),
    TestTeams.start(),
    startScriptedProvider(),
    Files.start(),
  ]);
  room = await slack.channel('room');
  const quiet = { stream_interval_ms: '0', agent: 'chat' };
  const env = {
    ...telegramEnv(telegram, quiet),
    ...slackEnv(slack, quiet),
    ...teamsEnv(teams, quiet),
    ...channelEnv('webhook', { type: 'webhook', secret: SECRET, allowed_users: '*', agent: 'chat' }),
    ...threeModelsEnv(provider),
    GATEWAY__AGENTS__HEARING__MODELS: 'chat/gpt-audio',
    GATEWAY__AGENTS__BLIND__MODELS: 'chat/blind',
    GATEWAY__MULTIMODAL__ALLOW_REMOTE_FETCH: 'true',
  };
  gateway = await startTestGateway({ env });
  for (const name of PLATFORMS) await untilChannel(gateway, name, 'connected');
  provider.script(says);
});
afterAll(async () => {
  await gateway.stop();
  await Promise.all([telegram.stop(), slack.stop(), teams.stop(), provider.stop(), files.stop()]);
});

/** A provider whose model `blind` refuses pictures and PDFs, as providers do. */
const says: Script = (response, request) => {
  const isRefused = request.body['model'] === 'blind' && /"image_url"|"file_data"/.test(request.text);
  if (!isRefused) return saysOnEveryWire('Seen.')(response, request);
  const error = { message: 'This model takes text alone.', type: 'invalid_request_error', code: null };
  response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ error }));
  return undefined;
};

/** A server on which programs keep their files. */
class Files {
  private readonly kept = new Map<string, Buffer>();

  private constructor(private readonly server: Server) {}

  static async start(): Promise<Files> {
    const server = createServer();
    const made = new Files(server);
    server.on('request', (request, response) => {
      const data = made.kept.get(request.url ?? '');
      response.writeHead(data === undefined ? 404 : 200).end(data);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return made;
  }

  put(name: string, data: Buffer | undefined): string {
    const path = `/${count}/${name}`;
    if (data !== undefined) this.kept.set(path, data);
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}${path}`;
  }

  stop(): Promise<void> {
    return new Promise((resolve) => this.server.close(() => resolve()));
  }
}

/**
 * Sends it as people do on this platform, with a caption.
 * @returns what the person reads
 */
const SEND: Readonly<Record<Platform, (kind: SentKind, caption: string) => Promise<string>>> = {
  telegram: async ({ what, name, mimeType, data, fault }, caption) => {
    const chat = 1000 + count;
    if (fault === 'not there') {
      const error = { ok: false, error_code: 400, description: 'Bad Request: file is not there' };
      telegram.next('getFile', (response) => response.writeHead(400).end(JSON.stringify(error)));
    }
    const file = {
      ...{ file_id: telegram.file(data), file_name: name, mime_type: mimeType, width: 1, height: 1 },
      file_size: fault === 'too large' ? TOO_LARGE : data.length,
    };
    const as = sentAs(what, 'telegram');
    await telegram.write('', { chat, more: { [as]: as === 'photo' ? [file] : file, caption } });
    return (await telegram.untilSaid(1, chat))[0]?.text ?? '';
  },
  slack: async ({ name, mimeType, data, fault }, caption) => {
    const bytes = fault === 'too large' ? Buffer.alloc(TOO_LARGE) : data;
    if (fault === 'not there') slack.next('file', (response) => void response.writeHead(404).end('{}'));
    const shared = slack.file(bytes, name, mimeType);
    const ts = await slack.write(caption, {
      channel: room,
      more: { subtype: 'file_share', files: [shared], text: caption },
    });
    const answer = () => slack.said(room).find(({ thread }) => thread === ts)?.text;
    await eventually(() => expect(answer()).toBeDefined());
    return answer() ?? '';
  },
  teams: async ({ what, name, mimeType, data, fault }, caption) => {
    const bytes = fault === 'too large' ? Buffer.alloc(TOO_LARGE) : data;
    const address = fault === 'not there' ? `${teams.url}/away` : teams.shared(bytes, mimeType);
    const attachment =
      sentAs(what, 'teams') === 'file'
        ? {
            contentType: 'application/vnd.microsoft.teams.file.download.info',
            content: { downloadUrl: address },
          }
        : { contentType: 'image/*', contentUrl: teams.file(bytes) };
    const conversation = `a:${count}`;
    const origin = `http://127.0.0.1:${gateway.started.ports.b}`;
    const more = { attachments: [{ ...attachment, name }] };
    expect(await teams.write(origin, caption, { conversation, more })).toBe(200);
    return (await teams.untilSaid(1, conversation))[0]?.text.replaceAll('\\', '') ?? '';
  },
  webhook: async (kind, caption) => {
    const { content } = (await (await post(kind, caption)).json()) as { content?: string };
    return String(content);
  },
};

/** A signed message of a program, with the address of its file. */
function post({ name, mimeType, data, fault }: SentKind, caption: string): Promise<Response> {
  const bytes = fault === 'too large' ? Buffer.alloc(TOO_LARGE) : data;
  const url = files.put(name, fault === 'not there' ? undefined : bytes);
  const attachments = [{ url, mime_type: mimeType }];
  const body = JSON.stringify({ conversation: caption, user: 'ada', content: caption, attachments });
  return postSigned(gateway, 'webhook', SECRET, { id: caption, body });
}

/** How each wire carries it. */
const CARRIED: Readonly<Record<'picture' | 'document' | 'sound', Readonly<Record<string, string>>>> = {
  picture: { chat: '"image_url"', responses: '"input_image"', messages: '"type":"image"' },
  document: { chat: '"type":"file"', responses: '"input_file"', messages: '"type":"document"' },
  sound: { chat: '"input_audio"' },
};

function expected(kind: SentKind, model: Model): RegExp {
  const { model: given } = outcomeOf(kind, model);
  const wire = model === 'hearing' || model === 'blind' ? 'chat' : model;
  switch (given) {
    case 'picture':
    case 'document':
    case 'sound':
      return new RegExp(CARRIED[given][wire] ?? 'never');
    case 'text':
      return /\[attachment table\.csv \(text\/csv\)\]\\na,b\\n1,2/;
    case 'note':
      return new RegExp(`\\[attachment ${kind.name} \\([^)]*bytes\\) cannot be shown to this model`);
    case 'note: left out':
      return /\[attachment [^\]]* is left out, because the provider of this model rejected the request with it/;
    case 'note: not read':
      return new RegExp(`\\[attachment ${kind.name} could not be read: `);
    default:
      return given satisfies never;
  }
}

describe.each(Object.keys(MODELS) as Model[])('the model "%s"', (model) => {
  beforeAll(async () => {
    for (const name of PLATFORMS) {
      const { connections } = slack.sockets;
      await gateway.b.patch('/config', { [`channels_config.${name}.agent`]: model });
      if (name === 'slack' && model !== 'chat')
        await eventually(() => expect(slack.sockets.connections).toBeGreaterThan(connections));
      await untilChannel(gateway, name, 'connected');
    }
  });

  describe.each(PLATFORMS)('%s', (platform) => {
    test.each(KINDS.map((kind) => [kind.what, kind] as const))('%s', async (_what, kind) => {
      count += 1;
      const caption = `caption-${count}-`;
      const answer = await SEND[platform](kind, caption);
      const asked = provider.requests.filter(({ text }) => text.includes(caption)).at(-1)?.text ?? '';
      expect(asked).toMatch(expected(kind, model));
      const { person } = outcomeOf(kind, model);
      const note: unknown =
        kind.fault !== undefined
          ? expect.stringMatching(`^\\(I could not read ${kind.name}: .+\\.\\)$`)
          : person === ''
            ? undefined
            : expect.stringMatching(`^\\(${person}: [^ ]+\\.\\)$`);
      expect(answer.split(/\n+/)).toEqual(['Seen.', ...(note === undefined ? [] : [note])]);
    });
  });
});

test('docs/channels.md has these rows', async () => {
  const page = await readFile('docs/channels.md', 'utf8');
  for (const table of matrixTables()) expect(page).toContain(table);
});

test('without multimodal.allow_remote_fetch a program is told that no address is fetched', async () => {
  await gateway.b.patch('/config', { 'multimodal.allow_remote_fetch': false });
  count += 1;
  const kind = KINDS[0] as SentKind;
  const refused = await post(kind, `refused-${count}`);
  expect([refused.status, await refused.json()]).toMatchObject([
    400,
    { error: { code: 'bad_request', details: { fields: [{ path: 'attachments' }] } } },
  ]);
  expect(provider.requests.some(({ text }) => text.includes(`refused-${count}`))).toBe(false);
  await gateway.b.patch('/config', { 'multimodal.allow_remote_fetch': true });
});
