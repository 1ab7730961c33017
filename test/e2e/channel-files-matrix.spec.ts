import { readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import type { ProducedFile } from '../../src/areas/tools/tools.api.js';
import { channelEnv, telegramEnv, untilChannel } from '../harness/channels.js';
import { eventually } from '../harness/eventually.js';
import {
  MADE,
  type MadeKind,
  madeOutcome,
  madeTable,
  type Outcome,
  PLACES,
  type Place,
} from '../harness/files-out-matrix.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { HookReceiver } from '../harness/hook-receiver.js';
import { postSigned } from '../harness/inbound.js';
import { slackEnv, TestSlack } from '../harness/slack.js';
import { type SaidAtTeams, TestTeams, teamsEnv } from '../harness/teams.js';
import { TestTelegram } from '../harness/telegram.js';

const SECRET = 'a secret of sixteen bytes';

let telegram: TestTelegram;
let slack: TestSlack;
let teams: TestTeams;
let receiver: HookReceiver;
let gateway: TestGateway;
let room: string;
let made: readonly ProducedFile[];
let count = 0;
beforeAll(async () => {
  [telegram, slack, teams, receiver] = await Promise.all([
    TestTelegram.start(),
    TestSlack.start(),
    TestTeams.start(),
    HookReceiver.open(),
  ]);
  room = await slack.channel('room');
  const quiet = { stream_interval_ms: '0' };
  const webhook = { type: 'webhook', secret: SECRET, allowed_users: '*' };
  gateway = await startTestGateway({
    env: {
      ...telegramEnv(telegram, quiet),
      ...slackEnv(slack, quiet),
      ...teamsEnv(teams, quiet),
      ...channelEnv('desk', webhook),
      ...channelEnv('back', { ...webhook, callback_url: receiver.url() }),
    },
  });
  gateway.tools.register({
    name: 'make',
    description: 'Makes files.',
    inputSchema: { type: 'object' },
    run: () => Promise.resolve({ content: 'made', files: made }),
  });
  for (const name of ['telegram', 'slack', 'teams']) await untilChannel(gateway, name, 'connected');
}, 120_000);
afterAll(async () => {
  await gateway.stop();
  await Promise.all([telegram.stop(), slack.stop(), teams.stop(), receiver.close()]);
});
beforeEach(async () => {
  count += 1;
  await gateway.database.query('DELETE FROM turn_files');
  telegram.sentFiles.splice(0);
  slack.shared.splice(0);
  receiver.attempts.length = 0;
  receiver.behaviour = () => 200;
});

const origin = (): string => `http://127.0.0.1:${gateway.started.ports.b}`;
const kept = () => gateway.database.query<{ name: string }>('SELECT name FROM turn_files');

async function untilDone(): Promise<void> {
  await eventually(async () => {
    const open = await gateway.database.query('SELECT 1 FROM channel_messages WHERE done_at IS NULL');
    expect(open).toEqual([]);
  });
}

/** What happened to a file, and its bytes as the receiver has them. */
interface Came {
  readonly outcome: Outcome;
  readonly name: string;
  readonly data?: Buffer;
}

const bytesOf = ({ attachments: [one] }: SaidAtTeams): Buffer =>
  Buffer.from(String(one?.['contentUrl']).replace(/^data:[^,]*,/, ''), 'base64');

/** What Teams shows after the text, and after a request for consent what arrives once the reader accepts. */
async function atTeams(kind: 'personal' | 'groupChat'): Promise<Came> {
  const posting = { conversation: `a:made-${count}-${kind}`, kind };
  // In a group the first line begins with the sender's name.
  expect(await teams.write(origin(), 'go\n/call make {}', posting)).toBe(200);
  const [, second] = await teams.untilSaid(2, posting.conversation);
  if (second === undefined) throw new Error('Nothing follows the text.');
  const name = String(second.attachments[0]?.['name']);
  const type = String(second.attachments[0]?.['contentType']);
  if (type.startsWith('image/')) {
    await untilDone();
    expect(await kept()).toEqual([]);
    return { outcome: 'in the message', name, data: bytesOf(second) };
  }
  if (!type.includes('consent')) {
    expect(second.text).toMatch(/I could not send .* no other files/);
    return { outcome: 'named only', name: /send (\S+):/.exec(second.text)?.[1] ?? '' };
  }
  await untilDone();
  const before = teams.uploads.length;
  expect((await teams.consent(origin(), second, 'accept', posting)).status).toBe(200);
  const [upload] = teams.uploads.slice(before);
  expect(upload?.range).toBe(`bytes 0-${(upload?.data.length ?? 0) - 1}/${upload?.data.length}`);
  const after = teams.said(posting.conversation);
  // The request for consent is gone, and the file is in its place.
  expect(after.map(({ attachments: [one] }) => one?.['contentType'])).toEqual([
    undefined,
    'application/vnd.microsoft.teams.card.file.info',
  ]);
  expect(await kept()).toEqual([]);
  return { outcome: 'once the reader agrees', name, ...(upload === undefined ? {} : { data: upload.data }) };
}

const GET: Readonly<Record<Place, () => Promise<Came>>> = {
  Telegram: async () => {
    await telegram.write('/call make {}', { chat: 3000 + count });
    await eventually(() => expect(telegram.sentFiles).toHaveLength(1));
    const [sent] = telegram.sentFiles;
    if (sent === undefined) throw new Error('Nothing was sent.');
    return {
      outcome: sent.method === 'sendPhoto' ? 'picture' : 'document',
      name: sent.name,
      data: sent.data,
    };
  },
  Slack: async () => {
    await slack.write('go\n/call make {}', { channel: room });
    await eventually(() => expect(slack.shared).toHaveLength(1));
    const [shared] = slack.shared;
    if (shared === undefined) throw new Error('Nothing was shared.');
    return { outcome: 'file', name: shared.name, data: shared.data };
  },
  'Teams, personal chat': () => atTeams('personal'),
  'Teams, channel or group chat': () => atTeams('groupChat'),
  'Webhook, response': async () => {
    const { files } = await posted('desk', `m${count}`);
    const [file] = files ?? [];
    return { outcome: 'bytes', name: file?.name ?? '', data: Buffer.from(file?.data ?? '', 'base64') };
  },
  'Webhook, callback': async () => {
    await posted('back', `m${count}`);
    await eventually(() => expect(receiver.attempts).toHaveLength(2));
    const [text, file] = receiver.attempts.map(({ body }) => JSON.parse(body) as Posted);
    expect(text).toMatchObject({ type: 'reply', content: 'made' });
    expect(file).toMatchObject({
      type: 'file',
      conversation: `c${count}`,
      user: 'ada',
      in_reply_to: `m${count}`,
    });
    return { outcome: 'bytes', name: file?.name ?? '', data: Buffer.from(file?.data ?? '', 'base64') };
  },
};

interface Posted {
  readonly name: string;
  readonly mime_type: string;
  readonly data: string | null;
}

async function posted(channel: string, id: string): Promise<{ content?: string; files?: readonly Posted[] }> {
  const body = JSON.stringify({ conversation: `c${count}`, user: 'ada', content: '/call make {}' });
  const response = await postSigned(gateway, channel, SECRET, { id, body });
  expect(response.ok).toBe(true);
  return (await response.json()) as { content?: string; files?: readonly Posted[] };
}

const cells = PLACES.flatMap((place) => MADE.map((one) => [place, one.what, one] as const));
test.each(cells)(
  '%s, %s: it comes as the table says, with its bytes',
  async (place, _what, one: MadeKind) => {
    made = [one.file];
    const { outcome, name, data } = await GET[place]();
    expect({ outcome, name }).toEqual({ outcome: madeOutcome(one, place), name: one.file.name });
    if (outcome !== 'named only') expect(data?.equals(one.file.data)).toBe(true);
    await untilDone();
  },
);

test('docs/channels.md has this table', async () => {
  expect(await readFile('docs/channels.md', 'utf8')).toContain(madeTable());
});

const ZIP: ProducedFile = {
  name: 'box.zip',
  mimeType: 'application/zip',
  data: Buffer.from('504b0304', 'hex'),
};

describe('at Teams a file waits for its reader', () => {
  async function offered(): Promise<{ card: SaidAtTeams; posting: { conversation: string } }> {
    made = [ZIP];
    const posting = { conversation: `a:wait-${count}` };
    expect(await teams.write(origin(), '/call make {}', posting)).toBe(200);
    const [, card] = await teams.untilSaid(2, posting.conversation);
    await untilDone();
    if (card === undefined) throw new Error('Nobody is asked.');
    return { card, posting };
  }

  test('one that the reader declines is deleted, and so is the card', async () => {
    const { card, posting } = await offered();
    expect((await teams.consent(origin(), card, 'decline', posting)).status).toBe(200);
    expect(teams.said(posting.conversation)).toHaveLength(1);
    expect(await kept()).toEqual([]);
  });

  test('one that OneDrive does not take is asked for again, and comes then', async () => {
    const { card, posting } = await offered();
    const before = teams.uploads.length;
    teams.next('upload', (response) => response.writeHead(500).end());
    expect((await teams.consent(origin(), card, 'accept', posting)).status).toBe(503);
    expect(await kept()).toEqual([{ name: 'box.zip' }]);
    expect((await teams.consent(origin(), card, 'accept', posting)).status).toBe(200);
    expect(teams.uploads.slice(before + 1).map(({ data }) => data)).toEqual([ZIP.data]);
    expect(await kept()).toEqual([]);
    // A second click is answered, but the file is not sent again.
    expect((await teams.consent(origin(), card, 'accept', posting)).status).toBe(200);
    expect(teams.said(posting.conversation).at(-1)?.text).toBe(
      '(I have sent box.zip already: it is in your OneDrive.)',
    );
    expect(teams.uploads).toHaveLength(before + 2);
  });

  test.each<[string, (card: SaidAtTeams, posting: { conversation: string }) => Promise<unknown>]>([
    ['was declined before', (card, posting) => teams.consent(origin(), card, 'decline', posting)],
    ['is no longer kept', () => gateway.database.query('DELETE FROM turn_files')],
  ])('a reader who agrees to one that %s is told that it is gone', async (_what, lose) => {
    const { card, posting } = await offered();
    await lose(card, posting);
    expect((await teams.consent(origin(), card, 'accept', posting)).status).toBe(200);
    expect(teams.said(posting.conversation).at(-1)?.text).toBe(
      '(I could not send box.zip: it is no longer kept.)',
    );
  });

  test('an upload ends when the gateway stops: who clicked is asked to try again, and gets it from another replica', async () => {
    const { card, posting } = await offered();
    const env = teamsEnv(teams, { stream_interval_ms: '0' });
    const leaving = await startTestGateway({ database: gateway.database, env });
    const before = teams.uploads.length;
    const hanging = new Promise<ServerResponse>((resolve) => teams.next('upload', resolve));
    const click = teams.consent(`http://127.0.0.1:${leaving.started.ports.b}`, card, 'accept', posting);
    await hanging;
    const stopped = leaving.stop();
    expect((await click).status).toBe(503);
    await stopped;
    expect(leaving.logLines.join('\n')).not.toContain('requests are cut off');
    expect((await teams.consent(origin(), card, 'accept', posting)).status).toBe(200);
    expect(teams.uploads.slice(before + 1).map(({ data }) => data)).toEqual([ZIP.data]);
  }, 120_000);

  test('no file goes by plain http to where others could read it', async () => {
    const { card, posting } = await offered();
    key = /"agw_file":"(\w+)"/.exec(JSON.stringify(card))?.[1] ?? '';
    const plain = { ...posting, more: { value: forged('http://drive.example/up') } };
    expect((await teams.consent(origin(), card, 'accept', plain)).status).toBe(503);
    expect(gateway.logLines.join('\n')).toContain('must be an https URL');
    expect(await kept()).toEqual([{ name: 'box.zip' }]);
  });

  test('who clicks twice at the same moment gets it once', async () => {
    const { card, posting } = await offered();
    const before = teams.uploads.length;
    teams.next('upload', (response) => void setTimeout(() => response.writeHead(201).end('{}'), 500));
    const click = () => teams.consent(origin(), card, 'accept', posting);
    expect((await Promise.all([click(), click()])).map(({ status }) => status)).toEqual([200, 200]);
    expect(teams.uploads).toHaveLength(before + 1);
    expect(teams.said(posting.conversation)).toHaveLength(2);
  });

  test('uploads that hang in one conversation keep no one else waiting', async () => {
    made = Array.from({ length: 9 }, (_, n) => ({ ...ZIP, name: `box-${n}.zip` }));
    const posting = { conversation: `a:hangs-${count}` };
    expect(await teams.write(origin(), '/call make {}', posting)).toBe(200);
    const [, ...cards] = await teams.untilSaid(10, posting.conversation);
    await untilDone();
    const before = teams.uploads.length;
    const hanging = new Promise<ServerResponse>((resolve) => teams.next('upload', resolve));
    const clicks = cards.map((card) => teams.consent(origin(), card, 'accept', posting));
    const hung = await hanging;
    count += 1;
    const other = await offered();
    expect((await teams.consent(origin(), other.card, 'accept', other.posting)).status).toBe(200);
    expect(teams.uploads).toHaveLength(before + 2);
    hung.writeHead(201).end('{}');
    expect((await Promise.all(clicks)).map(({ status }) => status)).toEqual(Array(9).fill(200));
    expect(teams.uploads).toHaveLength(before + 10);
  });

  test.each<[string, (posting: { conversation: string }) => object]>([
    ['another conversation', () => ({ conversation: 'a:elsewhere' })],
    ['another tenant', (posting) => ({ ...posting, more: { channelData: { tenant: { id: 'another' } } } })],
    [
      'an address within the network',
      (posting) => ({ ...posting, more: { value: forged('http://10.1.2.3/up') } }),
    ],
    [
      'a part that there is not',
      (posting) => ({ ...posting, more: { value: forged('https://x.example/', 'msg_1_1') } }),
    ],
  ])('a click from %s gets nothing', async (_what, change) => {
    const { card, posting } = await offered();
    key = /"agw_file":"(\w+)"/.exec(JSON.stringify(card))?.[1] ?? '';
    const before = teams.uploads.length;
    await teams.consent(origin(), card, 'accept', change(posting));
    expect(teams.uploads).toHaveLength(before);
    expect(await kept()).toEqual([{ name: 'box.zip' }]);
  });

  let key = '';
  const forged = (uploadUrl: string, part = key): object => ({
    ...{ type: 'fileUpload', action: 'accept', context: { agw_file: part } },
    uploadInfo: {
      uploadUrl,
      name: 'box.zip',
      contentUrl: 'https://x.example/',
      uniqueId: 'x',
      fileType: 'zip',
    },
  });
});

describe('over a webhook', () => {
  test('who posts the same message again gets the same files; of those that are no longer kept, their names', async () => {
    made = [ZIP];
    const first = await posted('desk', `again-${count}`);
    expect(first).toEqual(await posted('desk', `again-${count}`));
    const data = ZIP.data.toString('base64');
    expect(first.files).toEqual([{ name: 'box.zip', mime_type: 'application/zip', data }]);
    await gateway.database.query('DELETE FROM turn_files');
    expect((await posted('desk', `again-${count}`)).files).toEqual([
      { name: 'box.zip', mime_type: 'application/zip', data: null },
    ]);
  });

  test('a file that a callback refuses is posted again, with the same bytes; one that is too large for it is named', async () => {
    made = [ZIP];
    const files = () => receiver.attempts.filter(({ body }) => body.includes('"type":"file"'));
    receiver.behaviour = ({ body }) => (body.includes('"type":"file"') && files().length === 1 ? 500 : 200);
    await posted('back', `twice-${count}`);
    await eventually(() => expect(files()).toHaveLength(2));
    expect(files()[1]?.body).toBe(files()[0]?.body);
    expect(files()[1]?.headers['webhook-id']).toBe(files()[0]?.headers['webhook-id']);
    await untilDone();
    receiver.behaviour = ({ body }) => (body.includes('"type":"file"') ? 413 : 200);
    await posted('back', `large-${count}`);
    await eventually(() =>
      expect(receiver.attempts.at(-1)?.body).toContain(
        '(I could not send box.zip: the callback answered 413.)',
      ),
    );
    await untilDone();
    expect(await kept()).toEqual([]);
  });
});
