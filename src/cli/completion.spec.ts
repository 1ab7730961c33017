import { spawnSync } from 'node:child_process';
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

test('options and values before the cursor do not lead astray', () => {
  expect(offered('--url', 'http://127.0.0.1', 'channels', 're')).toEqual(['restart']);
  expect(offered('sessions', 'list', '--agent', 'support', '--js')).toEqual(['--json']);
  expect(offered('auth', 'token', 'rot')).toEqual(['rotate']);
});

test.each(SHELLS)('%s: every command and every option is in the script', (shell) => {
  const script = completionScript(program, shell);
  for (const path of ['sessions watch', 'auth token create', 'hooks redeliver', 'logs'])
    expect(script).toContain(`'${shell === 'fish' ? '' : ' '}${path}'`);
  expect(script).toContain(shell === 'fish' ? '-l follow' : '--follow');
});

test.each(SHELLS.filter((shell) => spawnSync(shell, ['--version']).status === 0))(
  '%s takes the script',
  (shell) => {
    const { status, stderr } = spawnSync(shell, ['-n'], {
      input: completionScript(program, shell),
      encoding: 'utf8',
    });
    expect([status, stderr]).toEqual([0, '']);
  },
);
