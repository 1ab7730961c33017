import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { channelEnv, untilChannel } from '../harness/channels.js';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { configEnv, removeConfigs } from '../harness/identity.js';
import { SLACK_APP_TOKEN, SLACK_BOT_TOKEN, TestSlack } from '../harness/slack.js';
import { APP_SECRET, TestTeams, teamsEnv } from '../harness/teams.js';
import { BOT_TOKEN, TestTelegram } from '../harness/telegram.js';

const run = promisify(execFile);
const SECRET = `whsec_${Buffer.from('a canary secret of a program').toString('base64')}`;
const ANSWER = /^No model is configured/;

/** The tables of docs/channels.md, and the program there that posts to a webhook channel. */
let tables: ReadonlyMap<string, string>;
let program: string;
let telegram: TestTelegram;
let slack: TestSlack;
let teams: TestTeams;
let gateway: TestGateway;
let file: string;
beforeAll(async () => {
  const page = await readFile('docs/channels.md', 'utf8');
  tables = new Map(
    [...page.matchAll(/^```toml\n(\[channels_config\.(\w+)\]\ntype[\s\S]*?)^```$/gm)].map(
      ([, toml = '', name = '']) => [name, toml],
    ),
  );
  program = /^```js\n([\s\S]*?)^```$/m.exec(page)?.[1] ?? '';
  [telegram, slack, teams] = await Promise.all([TestTelegram.start(), TestSlack.start(), TestTeams.start()]);
  const nobody = [...tables.values()]
    .join('\n')
    .replaceAll(/^allowed_users = \["(?!\*).*$/gm, 'allowed_users = []');
  const config = await configEnv(nobody);
  file = config.GATEWAY_CONFIG ?? '';
  const { login_url, openid_url, issuer } = {
    login_url: teams.url,
    openid_url: `${teams.url}/openid`,
    issuer: issuerOf(teams),
  };
  gateway = await startTestGateway({
    env: {
      ...config,
      // Secrets in the variables that the tables name, and test servers in place of the platforms.
      TELEGRAM_BOT_TOKEN: BOT_TOKEN,
      SLACK_BOT_TOKEN,
      SLACK_APP_TOKEN,
      TEAMS_APP_SECRET: APP_SECRET,
      DESK_SECRET: SECRET,
      ...channelEnv('telegram', { api_url: telegram.url, poll_timeout_secs: '2' }),
      ...channelEnv('slack', { api_url: slack.url }),
      ...channelEnv('teams', { login_url, openid_url, issuer }),
    },
  });
}, 120_000);
afterAll(async () => {
  await gateway.stop();
  await Promise.all([telegram.stop(), slack.stop(), teams.stop(), removeConfigs()]);
});

function issuerOf(platform: TestTeams): string {
  return teamsEnv(platform)['GATEWAY__CHANNELS_CONFIG__TEAMS__ISSUER'] ?? '';
}

test('the page has a table for each platform and a program for webhooks', () => {
  expect([...tables.keys()]).toEqual(['telegram', 'slack', 'teams', 'desk']);
  expect(program).toContain('standardwebhooks');
});

/** Writes as a person does, and returns the bot's answer. */
const PEOPLE = {
  telegram: async (text: string) => {
    await telegram.write(text, { chat: 4711, user: 4711 });
    return () => telegram.said(4711).map((one) => one.text);
  },
  slack: async (text: string) => {
    const channel = await slack.direct();
    await slack.write(text, { channel });
    return () => slack.said(channel).map((one) => one.text);
  },
  teams: async (text: string) => {
    const origin = `http://127.0.0.1:${gateway.started.ports.b}`;
    expect(await teams.write(origin, text, { conversation: 'a:first' })).toBe(200);
    return () => teams.said('a:first').map((one) => one.text);
  },
};

/** The id of the refused sender, by the log. */
async function senderIn(channel: string): Promise<string> {
  let found = '';
  await eventually(() => {
    const line = gateway.logLines
      .map((one) => JSON.parse(one) as { module?: string; message: string; sender?: string })
      .find(({ module, message }) => module === `channel::${channel}` && message.includes('allowed_users'));
    found = line?.sender ?? '';
    expect(found).not.toBe('');
  });
  return found;
}

test.each(['telegram', 'slack', 'teams'] as const)(
  '%s, from zero: connected, not let in, the id from the log into the file, the first answer',
  async (name) => {
    await untilChannel(gateway, name, 'connected');
    await PEOPLE[name]('hello?');
    const sender = await senderIn(name);
    const before = await readFile(file, 'utf8');
    const [table = ''] =
      new RegExp(`^\\[channels_config\\.${name}\\][^[]*allowed_users = \\[\\]`, 'm').exec(before) ?? [];
    await writeFile(file, before.replace(table, table.replace('[]', `["${sender}"]`)));
    await eventually(async () => {
      const { body } = await gateway.b.get<{
        config: { channels_config: Record<string, { allowed_users: string[] }> };
      }>('/config');
      expect(JSON.stringify(body)).toContain(sender);
    });
    await untilChannel(gateway, name, 'connected');
    const said = await PEOPLE[name]('and now?');
    await eventually(() => expect(said().at(-1)).toMatch(ANSWER));
  },
  60_000,
);

test('the program for webhooks gets its answer', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'agw-desk-'));
  try {
    await symlink(resolve('node_modules'), join(folder, 'node_modules'));
    const origin = `http://127.0.0.1:${gateway.started.ports.b}`;
    await writeFile(join(folder, 'desk.mjs'), program.replace('https://gateway.example.com', origin));
    const env = { PATH: process.env['PATH'], DESK_SECRET: SECRET };
    const { stdout } = await run(process.execPath, ['desk.mjs'], { cwd: folder, env });
    expect(stdout).toMatch(/^200 \{\s+status: 'answered'/);
    expect(stdout).toContain('No model is configured');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
