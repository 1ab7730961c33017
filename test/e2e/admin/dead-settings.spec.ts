import { eventually } from '../../harness/eventually.js';
import { startTestGateway } from '../../harness/gateway.js';
import { configEnv, removeConfigs } from '../../harness/identity.js';
import { runCommand } from '../../harness/remote-command-line.js';

afterAll(removeConfigs);

/** Budgets, prices and roles with one slip each, beside some that are right. */
const CARELESS = `
[providers.main]
kind = "offline"
[agents.support]
description = "Answers customers"
[limits.agents.support]
daily_usd = 5
[limits.agents.default]
daily_usd = 5
[limits.agents.suport]
daily_usd = 5
[prices."default/meta-llama/Llama-4"]
input = 1
output = 1
[prices."main/one"]
input = 1
output = 1
[prices."maim/one"]
input = 1
output = 1
[prices."one"]
input = 1
output = 1
[auth.jwt.corp]
issuer = "https://login.example.com/"
audience = "agent-gateway"
[auth.jwt.corp.roles.staff]
scopes = ["sessions:read"]
agents = ["support", "sales"]
`;
const WARNINGS = [
  'limits.agents.suport: there is no agent "suport".',
  'auth.jwt.corp.roles."staff".agents: there is no agent "sales".',
  'prices."maim/one": is no "provider/model" of default, main.',
  'prices."one": is no "provider/model" of default, main.',
];

const check = async (toml: string) => runCommand(await configEnv(toml), 'config', 'check');

test('config check warns of budgets, prices and roles for what is not there', async () => {
  const { code, stderr } = await check(CARELESS);
  expect([code, stderr]).toEqual([0, WARNINGS.map((warning) => `warning: ${warning}\n`).join('')]);
});

test('the log warns of them once, at the start and after a change', async () => {
  const gateway = await startTestGateway({
    env: await configEnv(CARELESS.slice(0, CARELESS.indexOf('[auth'))),
  });
  const told = () =>
    gateway.logLines
      .filter((line) => line.includes('a setting names something that does not exist'))
      .map((line) => (JSON.parse(line) as { problem: string }).problem);
  const first = WARNINGS.filter((warning) => !warning.startsWith('auth'));
  try {
    await eventually(() => expect(told()).toEqual(first));
    await gateway.b.patch('/config', { 'limits.agents.legall.daily_usd': 1 });
    await eventually(() =>
      expect(told()).toEqual([...first, 'limits.agents.legall: there is no agent "legall".']),
    );
  } finally {
    await gateway.stop();
  }
});

test('"every reference checked at once": keys of all providers, and agents of others, in one answer', async () => {
  const { code, stderr } = await check(`
[providers.main]
kind = "anthropic"
api_key_env = "KEY_THAT_IS_NOT_SET"
[providers.backup]
kind = "openai"
api_key_env = "OTHER_KEY_THAT_IS_NOT_SET"
[agents.support]
models = ["main/one", "nobody/two"]
[channels_config.phone]
type = "telegram"
token = "123456:x"
agent = "suport"
`);
  expect(code).toBe(1);
  for (const problem of [
    'providers.main.api_key_env names a variable that is not set.',
    'providers.backup.api_key_env names a variable that is not set.',
    'agents.support.models: entry 2 names a provider that is not configured',
    'channels_config.phone.agent names an agent that is not configured',
  ])
    expect(stderr).toContain(problem);
  expect(stderr).not.toContain('entry 1');
});
