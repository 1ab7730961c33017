import { resolve } from 'node:path';
import type { Command } from 'commander';
import { createProgram } from '../../src/cli/program.js';
import { readEnvironment } from '../../src/platform/settings/environment.js';
import { CommandBench } from '../harness/command-bench.js';
import { type CommandRow, LOCAL_ROWS, REMOTE_ROWS } from '../harness/command-rows.js';
import { startNoGateway } from '../harness/no-gateway.js';
import { runCommand } from '../harness/remote-command-line.js';

jest.setTimeout(120_000);

const WIDEST = 100;
/** Event ids alone take a third of the width. */
const WIDER: Readonly<Record<string, number>> = { 'hooks deliveries': 140 };
/** Their output has its own format, which `--json` does not change. */
const OWN_FORM: Readonly<Record<string, string>> = {
  'config schema': 'a JSON Schema',
  'audit export': 'NDJSON',
  'user export': 'NDJSON',
  completion: 'a script of a shell',
  serve: 'the log, until it is stopped',
};
/** Commands that run until they are stopped have tests of their own. */
const GOES_ON: Readonly<Record<string, readonly string[]>> = {
  'sessions watch': ['sess_x'],
  chat: ['--session', 'sess_x', 'Hello'],
};

let bench: CommandBench;
beforeAll(async () => {
  bench = await CommandBench.open({ GATEWAY__PLUGINS__DIRECTORY: resolve('plugins') });
});
afterAll(() => bench.close());

const commands = leaves(
  createProgram({
    environment: readEnvironment({}),
    terminal: { out: () => undefined, err: () => undefined },
    startGateway: startNoGateway,
  }),
);

/** Commands without subcommands, by their words. */
function leaves(command: Command, path = ''): [string, Command][] {
  if (command.commands.length === 0) return [[path.trim(), command]];
  return command.commands.flatMap((child) => leaves(child, `${path} ${child.name()}`));
}

test('every command of the program has a row here', () => {
  const known = [LOCAL_ROWS, REMOTE_ROWS, OWN_FORM, GOES_ON].flatMap((rows) => Object.keys(rows));
  expect(commands.map(([name]) => name).filter((name) => !known.includes(name))).toEqual([]);
  const names = commands.map(([name]) => name);
  expect(known.filter((name) => !names.includes(name))).toEqual([]);
});

test('"`--json` everywhere": every command has it, but those whose output is a form of its own', () => {
  const without = commands.filter(([, { options }]) => !options.some(({ long }) => long === '--json'));
  expect(without.map(([name]) => name).sort()).toEqual(Object.keys(OWN_FORM).sort());
});

const rows = [
  ...Object.entries(LOCAL_ROWS).map(([name, row]) => ['local', name, row] as const),
  ...Object.entries(REMOTE_ROWS).map(([name, row]) => ['remote', name, row] as const),
];

describe.each(rows)('%s: %s', (where, name, row) => {
  const call = (words: readonly string[]) =>
    runCommand({ ...bench[where], ...row.more }, ...name.split(' '), ...words);

  test('its table, or its sentence', async () => {
    const { code, stdout, stderr } = await call(await wordsOf(row));
    expect({ stdout, stderr, code }).toEqual({ stdout, stderr, code: 0 });
    expect(stdout).toMatch(row.shows ?? /^$/);
    expect(stderr).toMatch(row.says ?? /(?:)/);
    if (/^[A-Z]+ +[A-Z]/.test(stdout))
      for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(WIDER[name] ?? WIDEST);
  });

  test('its --json', async () => {
    const { code, stdout, stderr } = await call([...(await wordsOf(row)), '--json']);
    expect({ stdout, stderr, code }).toEqual({ stdout, stderr, code: 0 });
    expect(Object.keys(JSON.parse(stdout) as object)).toEqual(expect.arrayContaining([...row.fields]));
  });

  test('ends with 2 for a wrong command line, with 1 for what does not exist', async () => {
    const wrong = await call(['--no-such-option']);
    expect([wrong.code, wrong.stdout, wrong.stderr]).toEqual([
      2,
      '',
      expect.stringMatching(/^error: /) as string,
    ]);
    if (row.unknown === undefined) return;
    for (const words of [row.unknown, [...row.unknown, '--json']]) {
      const { code, stderr } = await call(words);
      expect({ words, code, stderr }).toEqual({
        words,
        code: 1,
        stderr: expect.stringMatching(/\w.*\n$/) as string,
      });
    }
  });
});

const wordsOf = async (row: CommandRow): Promise<readonly string[]> => (await row.words?.(bench)) ?? [];

test.each([...Object.keys(REMOTE_ROWS), ...Object.keys(GOES_ON)])(
  '%s ends with 1 for a wrong token, for none and when no gateway answers',
  async (name) => {
    const words = [...name.split(' '), ...(REMOTE_ROWS[name]?.unknown ?? GOES_ON[name] ?? [])];
    const { AGENT_GATEWAY_URL } = bench.remote;
    const said = name === 'doctor' ? 'stdout' : 'stderr';
    const endings = [
      [{ ...bench.remote, AGENT_GATEWAY_TOKEN: 'agw_wrong' }, /token/],
      [{ AGENT_GATEWAY_URL: AGENT_GATEWAY_URL ?? '' }, /AGENT_GATEWAY_TOKEN/],
      [{ ...bench.remote, AGENT_GATEWAY_URL: 'http://gateway.invalid' }, /gateway\.invalid/],
    ] as const;
    for (const [variables, why] of endings) {
      const ended = await runCommand(variables, ...words);
      const text = `${ended.stderr}${said === 'stdout' ? ended.stdout : ''}`;
      expect({ code: ended.code, text }).toEqual({ code: 1, text: expect.stringMatching(why) as string });
    }
  },
);
