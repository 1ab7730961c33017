import type { ProducedFile } from '../../src/areas/tools/tools.api.js';
import { telegramEnv, untilChannel } from '../harness/channels.js';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { McpBench, published, say, serverB } from '../harness/mcp.js';
import { slackEnv, TestSlack } from '../harness/slack.js';
import { TestTeams, teamsEnv } from '../harness/teams.js';
import { TestTelegram } from '../harness/telegram.js';

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const ZIP = Buffer.from('504b0304000000', 'hex');
const MIB = 1_048_576;

let telegram: TestTelegram;
let slack: TestSlack;
let teams: TestTeams;
let bench: McpBench;
let gateway: TestGateway;
let made: readonly ProducedFile[];
let nextChat = 900;
beforeAll(async () => {
  [telegram, slack, teams] = await Promise.all([TestTelegram.start(), TestSlack.start(), TestTeams.start()]);
  bench = await McpBench.make({ all: published('everything') });
  const quiet = { stream_interval_ms: '0' };
  gateway = await startTestGateway({
    env: {
      ...bench.env,
      ...telegramEnv(telegram, quiet),
      ...slackEnv(slack, quiet),
      ...teamsEnv(teams, quiet),
    },
  });
  gateway.tools.register({
    name: 'make',
    description: 'Makes files.',
    inputSchema: { type: 'object' },
    run: () => Promise.resolve({ content: 'made', files: made }),
  });
  for (const name of ['telegram', 'slack', 'teams']) await untilChannel(gateway, name, 'connected');
  await eventually(async () => expect((await serverB(gateway, 'all'))?.status).toBe('connected'), 60_000);
}, 120_000);
afterAll(async () => {
  await gateway.stop();
  await Promise.all([telegram.stop(), slack.stop(), teams.stop(), bench.clear()]);
});
beforeEach(() => {
  slack.forget();
  slack.shared.splice(0);
  telegram.sentFiles.splice(0);
});

const file = (name: string, mimeType: string, data: Buffer): ProducedFile => ({ name, mimeType, data });
const DOT = file('dot.png', 'image/png', PNG);
const BOX = file('box.zip', 'application/zip', ZIP);
const kept = () => gateway.database.query('SELECT 1 FROM turn_files');

/**
 * Writes in a new chat, and waits until the message is done.
 * @returns the bot's messages there
 */
async function write(text: string, answers = 1): Promise<string[]> {
  const chat = nextChat++;
  await telegram.write(text, { chat });
  await telegram.untilSaid(answers, chat);
  await untilDone();
  return telegram.said(chat).map((one) => one.text);
}

async function untilDone(): Promise<void> {
  await eventually(async () => {
    const open = await gateway.database.query('SELECT 1 FROM channel_messages WHERE done_at IS NULL');
    expect(open).toEqual([]);
  });
}

describe('what tools produce as files goes out as files', () => {
  test('at Telegram: pictures as pictures, everything else as documents, after the text; and no row has them any more', async () => {
    made = [DOT, BOX];
    await write('/call make {}');
    expect(telegram.sentFiles.map(({ method, name }) => [method, name])).toEqual([
      ['sendPhoto', 'dot.png'],
      ['sendDocument', 'box.zip'],
    ]);
    expect(telegram.sentFiles.map(({ data }) => data)).toEqual([PNG, ZIP]);
    expect(await kept()).toEqual([]);
  });

  test('at Telegram: what it does not take as a picture is sent as a document', async () => {
    made = [file('odd.png', 'image/png', Buffer.from('no picture'))];
    await write('/call make {}');
    expect(telegram.sentFiles.map(({ method, name }) => [method, name])).toEqual([
      ['sendDocument', 'odd.png'],
    ]);
  });

  test('at Slack: uploaded, then shared in the thread; the token goes to no upload address', async () => {
    made = [DOT, BOX];
    const room = await slack.channel('files');
    const thread = await slack.write('go\n/call make {}', { channel: room });
    await eventually(() => expect(slack.shared).toHaveLength(2));
    expect(slack.shared).toEqual([
      { channel: room, thread, name: 'dot.png', data: PNG },
      { channel: room, thread, name: 'box.zip', data: ZIP },
    ]);
    expect(slack.callsOf('upload').map(({ body }) => body['authorization'])).toEqual([undefined, undefined]);
    await untilDone();
    expect(await kept()).toEqual([]);
  });

  test('at Teams: pictures within a message; in a group chat the reader is told of other files, and of large pictures', async () => {
    made = [DOT, BOX, file('large.png', 'image/png', Buffer.concat([PNG, Buffer.alloc(MIB)]))];
    const origin = `http://127.0.0.1:${gateway.started.ports.b}`;
    const posting = { conversation: 'a:files', kind: 'groupChat' } as const;
    expect(await teams.write(origin, 'go\n/call make {}', posting)).toBe(200);
    const said = await teams.untilSaid(3, 'a:files');
    expect(said[1]?.attachments).toEqual([
      {
        name: 'dot.png',
        contentType: 'image/png',
        contentUrl: `data:image/png;base64,${PNG.toString('base64')}`,
      },
    ]);
    for (const name of ['box.zip', 'large.png']) expect(said[2]?.text).toContain(name);
    expect(said[2]?.text).toContain('pictures of at most 1 MB');
    await untilDone();
  });

  test('pictures and embedded bytes of a published tool server arrive as they are; text is none', async () => {
    await write('/call all__get-tiny-image {}');
    expect(telegram.sentFiles.map(({ method, name }) => [method, name])).toEqual([
      ['sendPhoto', 'image.png'],
    ]);
    const zip = { name: 'said.gz', data: 'data:text/plain;base64,aGVsbG8=', outputType: 'resource' };
    await write(`/call all__gzip-file-as-resource ${JSON.stringify(zip)}`);
    expect(telegram.sentFiles[1]).toMatchObject({ method: 'sendDocument', name: 'said.gz' });
    expect(telegram.sentFiles[1]?.data.toString('hex', 0, 2)).toBe('1f8b');
    await write('/call all__get-env {}');
    expect(telegram.sentFiles).toHaveLength(2);
  });
});

describe('bounds', () => {
  test('an answer brings ten files and 20 MiB; the reader is told about the others', async () => {
    const large = Buffer.alloc(8 * MIB, 1);
    made = [
      ...[1, 2, 3].map((number) => file(`large-${number}.bin`, 'application/octet-stream', large)),
      ...Array.from({ length: 9 }, (_, number) => file(`small-${number}.zip`, 'application/zip', ZIP)),
    ];
    const [said] = await write('/call make {}');
    const names = telegram.sentFiles.map(({ name }) => name);
    expect(names).toHaveLength(10);
    expect(names).not.toContain('large-3.bin');
    expect(said).toContain('(I could not send large-3.bin: an answer may bring 10 files and 20 MiB.)');
    expect(said).toContain('small-8.zip');
  });

  test('a turn that came over the API keeps none', async () => {
    made = [DOT];
    expect((await say(gateway, '/call make {}')).tool_calls[0]?.status).toBe('success');
    expect(await kept()).toEqual([]);
  });
});

describe('when the platform does not accept a file', () => {
  test('one that did not arrive is sent again, and arrives once', async () => {
    made = [DOT];
    telegram.next('sendPhoto', (response) => {
      const answer = { ok: false, error_code: 429, description: 'Slow down', parameters: { retry_after: 1 } };
      response.writeHead(429, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
    });
    await write('/call make {}');
    expect(telegram.sentFiles.map(({ name }) => name)).toEqual(['dot.png']);
  });

  test('one that may have arrived is not sent again, and the reader is told', async () => {
    made = [DOT];
    telegram.next('sendPhoto', 'its answer is lost');
    const said = await write('/call make {}', 2);
    expect(said[1]).toContain('may not have reached you');
    expect(telegram.sentFiles).toHaveLength(1);
  });

  test('an upload that fails is repeated: no one has seen it', async () => {
    made = [DOT];
    const channel = await slack.direct();
    slack.next('upload', (response) => response.destroy());
    await slack.write('/call make {}', { channel });
    await eventually(() => expect(slack.shared.map(({ name }) => name)).toEqual(['dot.png']));
    await untilDone();
  });

  test('without the scope the text arrives, the reader is told, and the channel stays connected', async () => {
    made = [DOT];
    const channel = await slack.direct('grace');
    slack.next('files.getUploadURLExternal', { ok: false, error: 'missing_scope', needed: 'files:write' });
    await slack.write('/call make {}', { channel, user: 'grace' });
    const said = await slack.untilSaid(2, channel);
    expect(said[1]?.text).toContain('I could not send dot.png: the app needs the scope files:write.');
    await untilDone();
    await untilChannel(gateway, 'slack', 'connected');
  });

  test('an address for the upload that is none of Slack gets nothing', async () => {
    made = [DOT];
    const channel = await slack.direct('grace');
    const before = telegram.calls.length;
    slack.next('files.getUploadURLExternal', {
      ok: true,
      upload_url: `${telegram.url}/steal`,
      file_id: 'F1',
    });
    await slack.write('/call make {}', { channel, user: 'grace' });
    const said = await slack.untilSaid(2, channel);
    expect(said[1]?.text).toContain('I could not send dot.png');
    expect(telegram.calls.slice(before).filter(({ method }) => method === '')).toEqual([]);
    await untilDone();
  });
});
