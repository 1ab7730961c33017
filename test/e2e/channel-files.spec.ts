import { telegramEnv, untilChannel } from '../harness/channels.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { type ScriptedProvider, startScriptedProvider } from '../harness/scripted-provider.js';
import { slackEnv, TestSlack } from '../harness/slack.js';
import { TestTeams, teamsEnv } from '../harness/teams.js';
import { TestTelegram } from '../harness/telegram.js';
import { saysOnEveryWire, threeModelsEnv } from '../harness/three-models.js';

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

let telegram: TestTelegram;
let slack: TestSlack;
let teams: TestTeams;
let provider: ScriptedProvider;
let gateway: TestGateway;
let nextChat = 500;
beforeAll(async () => {
  [telegram, slack, teams, provider] = await Promise.all([
    TestTelegram.start(),
    TestSlack.start(),
    TestTeams.start(),
    startScriptedProvider(),
  ]);
  const quiet = { stream_interval_ms: '0', agent: 'chat' };
  const env = {
    ...telegramEnv(telegram, quiet),
    ...slackEnv(slack, quiet),
    ...teamsEnv(teams, quiet),
    ...threeModelsEnv(provider),
  };
  gateway = await startTestGateway({ env });
  await untilChannel(gateway, 'telegram', 'connected');
  await untilChannel(gateway, 'slack', 'connected');
  await untilChannel(gateway, 'teams', 'connected');
});
afterAll(async () => {
  await gateway.stop();
  await Promise.all([telegram.stop(), slack.stop(), teams.stop(), provider.stop()]);
});
beforeEach(() => {
  provider.script(saysOnEveryWire('Seen.'));
  slack.forget();
});

const asked = (): string => provider.requests.at(-1)?.text ?? '';

/** The person's last message as the model got it. */
function told(): string {
  const messages = provider.requests.at(-1)?.body['messages'] as { content: unknown }[];
  const content = messages.at(-1)?.content;
  if (typeof content === 'string') return content;
  return (content as { text?: string }[]).map(({ text }) => text ?? '').join('\n');
}

/**
 * Writes to the bot in a new chat.
 * @returns its answers
 */
async function write(text: string, more: object = {}, who: { chat?: number; type?: string } = {}) {
  const chat = who.chat ?? nextChat++;
  await telegram.write(text, { chat, more, ...who });
  return (await telegram.untilSaid(1, chat)).map((one) => one.text);
}

const grace = { id: 9, is_bot: false, first_name: 'Grace' };

describe('at Telegram', () => {
  test('an album is one message with all its pictures, kept as attachments like those of the API', async () => {
    const chat = nextChat++;
    const picture = () => [{ file_id: telegram.file(PNG), width: 1, height: 1, file_size: PNG.length }];
    const album = { media_group_id: `album-${chat}` };
    await telegram.write('', { chat, more: { ...album, photo: picture(), caption: 'Which one?' } });
    await telegram.write('', { chat, more: { ...album, photo: picture() } });
    await telegram.untilSaid(1, chat);
    expect(asked().match(/"image_url"/g)).toHaveLength(4);
    const [row] = await gateway.database.query<{ id: string }>(
      'SELECT session_id AS id FROM channel_conversations WHERE conversation = $1',
      [String(chat)],
    );
    const { body } = await gateway.b.get<{ messages: { attachments: object[] }[] }>(
      `/sessions/${row?.id}/messages`,
    );
    expect(body.messages[0]?.attachments).toHaveLength(2);
    expect(body.messages[0]?.attachments[0]).toMatchObject({ type: 'image', mime_type: 'image/png' });
  });

  test('quoted replies, with the picture that they are about, and forwards reach the model', async () => {
    const photo = [{ file_id: telegram.file(PNG), width: 1, height: 1 }];
    const quoted = { message_id: 3, date: 1, from: grace, caption: 'My new dot\nis red', photo };
    await write('Nice?', { reply_to_message: quoted });
    expect(told()).toContain('(In reply to this message of Grace:)\n> My new dot\n> is red\n\nNice?');
    expect(asked()).toContain('"image_url"');
    await write('Buy now', { forward_origin: { type: 'user', sender_user: grace, date: 1 } });
    expect(told()).toBe('(Forwarded from Grace)\n\nBuy now');
  });

  test('an edit is marked as one, and an edit that moves a shared place is not', async () => {
    const chat = nextChat++;
    await telegram.write('What is 1+1?', { chat });
    await telegram.untilSaid(1, chat);
    const place = { location: { latitude: 52.5, longitude: 13.4 } };
    await telegram.write('', { chat, more: { ...place, edit_date: 5 } });
    await telegram.write('What is 1+2?', { chat, more: { edit_date: 5 } });
    await telegram.untilSaid(2, chat);
    expect(told()).toBe(
      '(This is an earlier message, which its writer has edited. It now reads:)\n\nWhat is 1+2?',
    );
    expect(telegram.said(chat)).toHaveLength(2);
  });

  test('in a group a picture without words has the label of its writer', async () => {
    const photo = [{ file_id: telegram.file(PNG), width: 1, height: 1 }];
    await write('', { photo }, { chat: -nextChat++, type: 'group' });
    expect(told().trim()).toBe('Ada (7):');
    expect(asked()).toContain('"image_url"');
  });

  test('places, contacts, polls and stickers are described in words; notices such as joins are not answered', async () => {
    const chat = nextChat++;
    await telegram.write('', { chat, more: { new_chat_members: [grace] } });
    await telegram.write('', { chat, more: { location: { latitude: 52.5, longitude: 13.4 } } });
    await telegram.untilSaid(1, chat);
    expect(told()).toBe('(a place: 52.5, 13.4)');
    await write('', { sticker: { file_id: 'x', emoji: '👍', is_animated: true, is_video: false } });
    expect(told()).toBe('(a sticker: 👍)');
  });

  test.each([
    [
      'is larger than Telegram allows',
      Buffer.alloc(20_000_001),
      'Telegram gives bots files of at most 20 MB',
    ],
    ['is empty', Buffer.alloc(0), 'it is empty'],
  ])(
    'what cannot be read is said to the person and to the model: a file that %s',
    async (_what, data, why) => {
      const document = { file_id: telegram.file(data), file_name: 'big.bin' };
      const [answer] = await write('', { document, caption: 'Look' });
      expect(answer).toBe(`Seen.\n\n(I could not read big.bin: ${why}.)`);
      expect(told()).toBe(`Look\n\n[attachment big.bin could not be read: ${why}]`);
    },
  );

  test('an announced size that does not fit is not fetched at all', async () => {
    const before = telegram.callsOf('getFile').length;
    const document = { file_id: 'any', file_name: 'huge.iso', file_size: 3e9 };
    const [answer] = await write('', { document });
    expect(answer).toContain('(I could not read huge.iso: it is too large: a message may bring 20 MiB.)');
    expect(telegram.callsOf('getFile')).toHaveLength(before);
  });

  test('a file whose host fails for a moment is fetched again; other conversations do not wait for it', async () => {
    telegram.next('file', (response) => response.writeHead(503).end());
    telegram.next('file', (response) => response.destroy());
    const document = {
      file_id: telegram.file('late but whole'),
      file_name: 'a.txt',
      mime_type: 'text/plain',
    };
    const slow = write('', { document });
    expect(await write('Hello')).toEqual(['Seen.']);
    expect(await slow).toEqual(['Seen.']);
    expect(provider.requests.map(({ text }) => text).join()).toContain('late but whole');
  });

  test('a story, which no bot can read, is answered with a note and costs no turn', async () => {
    const before = provider.requests.length;
    const [answer] = await write('', { story: { id: 1, chat: { id: 1, type: 'private' } } });
    expect(answer).toBe(
      'I cannot read messages of this kind. Please write to me, or send me a picture or a file.',
    );
    expect(provider.requests).toHaveLength(before);
  });
});

describe('at Slack', () => {
  const say = async (text: string, more: object): Promise<string> => {
    slack.forget();
    const channel = await slack.direct();
    await slack.write(text, { channel, more: { ...more } });
    return (await slack.untilSaid(1, channel))[0]?.text ?? '';
  };
  test('the token goes to no other host, and files that are not kept at Slack are named', async () => {
    const stolen = slack.file('x', 'bait.txt', 'text/plain', {
      url_private_download: `${telegram.url}/steal`,
    });
    const drive = slack.file('x', 'sheet', 'text/plain', { is_external: true });
    const before = telegram.calls.length;
    const answer = await say('Read these', { subtype: 'file_share', files: [stolen, drive, 'nonsense'] });
    expect(answer).toContain('(I could not read bait.txt: it is not kept at Slack.)');
    expect(answer).toContain('(I could not read sheet: it cannot be read here.)');
    expect(telegram.calls.slice(before).map(({ method }) => method)).not.toContain('');
    expect(told()).toContain('[attachment bait.txt could not be read: it is not kept at Slack]');
  });

  test('without the scope for files Slack answers with a page, which is not taken for the file', async () => {
    slack.next(
      'file',
      (response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'),
    );
    const answer = await say('Read', { files: [slack.file(PNG, 'dot.png', 'image/png')] });
    expect(answer).toContain('files:read');
    expect(asked()).not.toContain('<html>');
  });

  test('a shared message is quoted, with its author', async () => {
    const shared = { is_share: true, author_name: 'Grace', text: 'We ship &lt;soon&gt;' };
    await say('When?', { attachments: [shared] });
    expect(told()).toBe('(In reply to this message of Grace:)\n> We ship <soon>\n\nWhen?');
  });

  test('an edit by a person is answered once; previews that Slack adds are not', async () => {
    slack.forget();
    const channel = await slack.direct();
    const ts = await slack.write('What is 1+1?', { channel });
    await slack.untilSaid(1, channel);
    const changed = (text: string, more: object = {}) => ({
      ...{
        type: 'message',
        subtype: 'message_changed',
        channel,
        channel_type: 'im',
        ts: `${Number(ts) + 1}`,
      },
      message: { type: 'message', user: 'U1', text, ts, ...more },
      previous_message: { text: 'What is 1+1?' },
    });
    slack.tell(changed('What is 1+1?', { edited: { user: 'U1', ts: `${ts.slice(0, -1)}9` } }));
    slack.tell(changed('What is 1+1? ', { attachments: [{ title: 'a preview' }] }));
    slack.tell(changed('What is 1+2?', { edited: { user: 'U1', ts: `${ts.slice(0, -1)}8` } }));
    slack.sockets.repeatAll();
    await slack.untilSaid(2, channel);
    expect(told()).toContain('which its writer has edited. It now reads:)\n\nWhat is 1+2?');
    await slack.write('done', { channel });
    await slack.untilSaid(3, channel);
    expect(slack.said(channel)).toHaveLength(3);
  });
});

test('no log line and no row has the token, and the places of files go when a message is done', async () => {
  const rows = await gateway.database.query<{ files: string }>(
    `SELECT DISTINCT files::text AS files FROM channel_messages WHERE done_at IS NOT NULL`,
  );
  expect(rows).toEqual([{ files: '[]' }]);
  expect(gateway.logLines.join('\n')).not.toMatch(/AAcanaryToken|canaryTokenOf/);
});
