import { telegramEnv } from '../harness/channels.js';
import { eventually } from '../harness/eventually.js';
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
