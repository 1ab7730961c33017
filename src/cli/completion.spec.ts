import { spawn, spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../../test/harness/eventually.js';
import { Environment } from '../platform/settings/environment.js';
import { completionScript, SHELLS } from './completion.js';
import { createProgram } from './program.js';

const program = createProgram({
  environment: new Environment({}),
  terminal: { out: () => undefined, err: () => undefined },
  startGateway: () => Promise.reject(new Error('no gateway in this test')),
});

/** What bash offers behind these words, the last of which is being typed. */
function offered(...words: string[]): string[] {
  const script = `${completionScript(program, 'bash')}
    COMP_WORDS=(agent-gateway ${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length}
    _agent_gateway; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr } = spawnSync('bash', ['-c', script], { encoding: 'utf8' });
  expect(stderr).toBe('');
  return stdout.split('\n').filter((line) => line !== '');
}

test('bash completes commands, those below them, options and values', () => {
  expect(offered('sess')).toEqual(['sessions']);
  expect(offered('sessions', '')).toEqual(expect.arrayContaining(['list', 'show', 'watch', 'end', '--help']));
  expect(offered('sessions', 'list', '--st')).toEqual(['--status']);
  expect(offered('completion', '')).toEqual(expect.arrayContaining([...SHELLS]));
});

test('bash completes the values of options, and nothing where any value is allowed', () => {
  expect(offered('sessions', 'list', '--status', '')).toEqual(
    expect.arrayContaining(['active', 'terminated']),
  );
  expect(offered('logs', '--level', 'w')).toEqual(['warn']);
  expect(offered('--url', 'sess')).toEqual([]);
  expect(offered('sessions', 'list', '--agent', 'sessions', '--st')).toEqual(['--status']);
});

test('options and values before the cursor do not confuse it', () => {
  expect(offered('--url', 'http://127.0.0.1', 'channels', 're')).toEqual(['restart']);
  expect(offered('sessions', 'list', '--agent', 'support', '--js')).toEqual(['--json']);
  expect(offered('auth', 'token', 'rot')).toEqual(['rotate']);
});

test.each(SHELLS)('%s: every command and every option is in the script', (shell) => {
  const script = completionScript(program, shell);
  for (const path of ['sessions watch', 'auth token create', 'hooks redeliver', 'logs'])
    expect(script).toContain(`' ${path}'`);
  expect(script).toContain(shell === 'fish' ? '-l follow' : '--follow');
});

/** What people type, with a tab where they want it finished, and the words that the command is then given. */
const TYPED: readonly (readonly [string, string])[] = [
  ['sess\tli\t--stat\tacti\t', 'sessions list --status active'],
  ['--url http://127.0.0.1 chan\tresta\t', '--url http://127.0.0.1 channels restart'],
  ['logs --lev\twar\t--fol\t', 'logs --level warn --follow'],
  ['completion zs\t', 'completion zsh'],
];

/** How a shell is started without the files of whoever runs this, and told of the script. */
const START: Readonly<Record<(typeof SHELLS)[number], readonly [command: string, ...setUp: string[]]>> = {
  bash: ['bash --noprofile --norc -i', 'bind "set enable-bracketed-paste off"', 'source ./completion'],
  zsh: ['zsh -f -i', 'unsetopt BEEP', 'autoload -Uz compinit && compinit -u -D', 'source ./completion'],
  fish: ['fish --no-config -i', 'source ./completion'],
};

describe.each(SHELLS.map((shell) => [shell, spawnSync(shell, ['--version']).status === 0] as const))(
  '%s itself',
  (shell, isInstalled) => {
    const name = isInstalled ? 'completes' : 'passed over, it is not installed:';
    const run = isInstalled ? test : test.skip;
    let folder: string;
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'agw-completion-'));
      await writeFile(join(folder, 'completion'), completionScript(program, shell));
      await writeFile(join(folder, 'agent-gateway'), '#!/bin/sh\necho "given=[$*]"\n', { mode: 0o755 });
    });
    afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));

    run(
      `${name} a command, a flag and a value of one, typed at a terminal`,
      async () => {
        expect(await givenIn(shell, folder)).toEqual(TYPED.map(([, given]) => given));
      },
      60_000,
    );
  },
);

/** Types each line at a terminal of its own, and waits for the words that the command was given. */
async function givenIn(shell: (typeof SHELLS)[number], folder: string): Promise<string[]> {
  const [command, ...setUp] = START[shell];
  const env = {
    ...process.env,
    HOME: folder,
    PATH: `${folder}:${process.env['PATH']}`,
    TERM: 'dumb',
    PS1: 'ready> ',
  };
  const child = spawn('script', ['-qec', command, '/dev/null'], { cwd: folder, env });
  const ended = new Promise((resolve) => child.on('close', resolve));
  let shown = '';
  child.stdout.on('data', (piece: Buffer) => {
    shown += piece.toString();
  });
  const type = async (text: string, until: RegExp, times: number): Promise<void> => {
    child.stdin.write(text);
    await eventually(
      () => expect(shown.match(new RegExp(until, 'g'))?.length ?? 0).toBeGreaterThanOrEqual(times),
      15_000,
    );
  };
  try {
    await type(`${setUp.join('; ')}; printf 'is-%s-ready\\n' 2\n`, /is-2-ready/, 1);
    for (const [index, [line]] of TYPED.entries()) {
      await type(`agent-gateway ${line}`, /./, 1);
      await type('\n', /given=\[[^\]]*\]/, index + 1);
    }
    child.stdin.write('exit\n');
    await ended;
  } finally {
    child.kill('SIGKILL');
  }
  return [...shown.matchAll(/given=\[([^\]]*)\]/g)].map(([, given = '']) => given.trim());
}
