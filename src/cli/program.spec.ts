import { type Command, CommanderError } from 'commander';
import { startNoGateway } from '../../test/harness/no-gateway.js';
import { readEnvironment } from '../platform/settings/environment.js';
import { createProgram } from './program.js';

/** Runs a command line that ends before any work; returns what it wrote and threw. */
async function refusal(...args: string[]) {
  const out: string[] = [];
  const err: string[] = [];
  const terminal = { out: (text: string) => void out.push(text), err: (text: string) => void err.push(text) };
  const program = createProgram({ environment: readEnvironment({}), terminal, startGateway: startNoGateway });
  const error: unknown = await program.parseAsync(args, { from: 'user' }).catch((thrown: unknown) => thrown);
  return { out: out.join(''), err: err.join(''), code: error instanceof CommanderError ? error.code : error };
}

test.each([
  [['srve'], "unknown command 'srve'\n(Did you mean serve?)"],
  [['auth', 'token', 'lst'], "unknown command 'lst'\n(Did you mean list?)"],
  [['auth', 'token', 'qqqqqqqq'], "unknown command 'qqqqqqqq'"],
  [['auth', 'token'], 'Usage: agent-gateway auth token [options] [command]'],
  [['auth', 'token', '--name', 'x'], "unknown option '--name'"],
  [['auth', 'token', 'create', '--expires-in', 'soon'], 'Expected a time such as 90d'],
  [['auth', 'token', 'create', '--expires-in', '0d'], 'Expected a time such as 90d'],
  [['auth', 'token', 'rotate', '--keep-old', 'ci'], 'Expected a time such as 24h'],
  [['auth', 'token', 'create', '--scopes', 'sessions:reed'], 'Unknown scope "sessions:reed"'],
  [['auth', 'token', 'create', '--scopes', ''], 'Unknown scope ""'],
  [['auth', 'token', 'create', '--preset', 'root'], 'Allowed choices are admin, operator, viewer'],
  [['auth', 'token', 'create', '--preset', 'viewer', '--scopes', '*'], 'cannot be used with option'],
  [['auth', 'token', 'create', '--name', 'a\u001b[31m'], '1 to 128 printable characters'],
  [['auth', 'token', 'create', '--name', 'x'.repeat(129)], '1 to 128 printable characters'],
  [['auth', 'token', 'create', '--user', ''], '1 to 256 printable characters'],
  [['auth', 'token', 'revoke'], "missing required argument 'id|name'"],
  [['serve', 'now'], 'too many arguments'],
  [['migrate', '--force'], "unknown option '--force'"],
])('%j is refused before anything is done', async (args, words) => {
  const { out, err, code } = await refusal(...args);
  expect(err).toContain(words);
  expect(out).toBe('');
  expect(code).toMatch(/^commander\./);
});

test('every command has a description and its own help', async () => {
  const { out } = await refusal('--help');
  for (const name of ['serve', 'auth', 'migrate', 'config'])
    expect(out).toMatch(new RegExp(`^  ${name} .*\\w`, 'm'));
  expect(out).toContain('Exit codes: 0 done, 1 failed');
  expect((await refusal('auth', 'token', 'create', '--help')).out).toContain('--expires-in <time>');
});

test('auth token mint prints a fresh token alone on standard output', async () => {
  const { out, err } = await refusal('auth', 'token', 'mint');
  expect(out).toMatch(/^agw_\S{49}\n$/);
  expect(err).toContain('GATEWAY_BOOTSTRAP_TOKEN');
});

test('no help states a default twice or in other units than the option takes', () => {
  const program = createProgram({
    environment: readEnvironment({}),
    terminal: { out: () => undefined, err: () => undefined },
    startGateway: startNoGateway,
  });
  const commands = (command: Command): readonly Command[] => [command, ...command.commands.flatMap(commands)];
  for (const command of commands(program)) {
    for (const line of command.helpInformation().split(/\n(?= {2}\S)/)) {
      expect(line.match(/\(?default: /g) ?? []).not.toHaveProperty('length', 2);
      expect(line).not.toContain('default: 86400');
    }
  }
});
