import { telegramEnv } from '../harness/channels.js';
import { eventually } from '../harness/eventually.js';
import { McpBench, published } from '../harness/mcp.js';
import { TestTelegram } from '../harness/telegram.js';
import { saysOnEveryWire } from '../harness/three-models.js';
import { type ChannelKind, ChannelStage } from './support/channel-stage.js';

// Starts take long on a busy machine.
jest.setTimeout(120_000);

const TELEGRAM: ChannelKind<TestTelegram> = {
  name: 'telegram',
  start: () => TestTelegram.start(),
  env: (telegram) => telegramEnv(telegram, { stream_interval_ms: '0' }),
};
let stage: ChannelStage<TestTelegram>;
beforeAll(async () => {
  stage = await ChannelStage.open(TELEGRAM);
});
afterAll(() => stage.close());

test('a file that is being fetched when its replica is killed is fetched by the next one, and answered once', async () => {
  const { platform: telegram, provider } = stage;
  provider.script(saysOnEveryWire('Seen.'));
  await stage.serve();
  telegram.next('file', () => undefined);
  const document = {
    file_id: telegram.file('what was to be read'),
    file_name: 'a.txt',
    mime_type: 'text/plain',
  };
  await telegram.write('', { chat: 1, more: { document, caption: 'Read this' } });
  await eventually(() => expect(telegram.callsOf('file')).toHaveLength(1));
  await stage.killReceiver();
  await stage.serve();
  await telegram.untilSaid(1, 1, 60_000);
  expect(telegram.said(1).map(({ text }) => text)).toEqual(['Seen.']);
  expect(provider.requests).toHaveLength(1);
  expect(provider.requests[0]?.text).toContain('what was to be read');
  expect(await stage.database.query('SELECT 1 FROM attachments')).toHaveLength(1);
});

describe('files that tools made', () => {
  let bench: McpBench;
  let making: ChannelStage<TestTelegram>;
  beforeAll(async () => {
    bench = await McpBench.make({ all: published('everything') });
    making = await ChannelStage.open({
      ...TELEGRAM,
      env: (telegram) => ({ ...TELEGRAM.env(telegram), ...bench.env, GATEWAY__PROVIDER__KIND: 'offline' }),
    });
  });
  afterAll(async () => {
    await making.close();
    await bench.clear();
  });
  const names = () => making.platform.sentFiles.map(({ name }) => name);
  const said = (chat: number) => making.platform.said(chat).map(({ text }) => text);

  test('are rows until they are sent: one that was not begun when its replica was killed comes from the next, once; one between sending and noting is not sent again', async () => {
    const { platform: telegram } = making;
    await making.untilServer(await making.serve(), 'all');
    // The text of the first answer is refused for now, so its picture waits behind it.
    telegram.next('sendMessage', (response) => {
      const answer = { ok: false, error_code: 429, description: 'Wait', parameters: { retry_after: 4 } };
      response.writeHead(429, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
    });
    await telegram.write('/call all__get-tiny-image {}', { chat: 1 });
    await eventually(() => expect(telegram.callsOf('sendMessage')).toHaveLength(1), 30_000);
    telegram.next('sendPhoto', 'its answer hangs');
    await telegram.write('/call all__get-tiny-image {}', { chat: 2 });
    await eventually(() => expect(names()).toHaveLength(1), 30_000);
    await making.killReceiver();
    await making.serve();
    await telegram.untilSaid(2, 2, 60_000);
    await eventually(() => expect(names()).toHaveLength(2), 60_000);
    expect(telegram.sentFiles.map(({ chat }) => chat)).toEqual(['2', '1']);
    expect(said(1)).toHaveLength(1);
    expect(said(2)[1]).toMatch(/may not have reached you/);
    await eventually(async () => {
      expect(await making.database.query('SELECT 1 FROM turn_files')).toEqual([]);
    });
  });
});
