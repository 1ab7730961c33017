import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ProcessBench, until } from '../harness/gateway-process.js';

jest.setTimeout(60_000);

const bench = new ProcessBench();
afterAll(() => bench.clear());

test.each([
  ['the whole group, as a terminal sends it', (pid: number) => -pid],
  ['the gateway alone', (pid: number) => pid],
])('Ctrl-C to %s, while the database files are made, ends the start quietly', async (_, target) => {
  const folder = await bench.folder();
  const dataDir = join(folder, 'data');
  const names = () => (existsSync(dataDir) ? readdirSync(dataDir) : []);
  const isBeingMade = () =>
    names().some((name) => name.startsWith('postgres.new-') && readdirSync(join(dataDir, name)).length > 0);
  const child = spawn(process.execPath, [join(process.cwd(), 'bin', 'agent-gateway.js'), 'serve'], {
    cwd: folder,
    env: { PATH: process.env.PATH },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const closed = once(child, 'close') as Promise<[number | null]>;
  try {
    await until(isBeingMade, 20_000);
    process.kill(target(child.pid ?? 0), 'SIGINT');
    const [code] = await closed;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('asked to stop');
    expect(stdout).toContain('gateway stopped before its start was complete');
    expect(stdout).not.toMatch(/initdb|fail|error|token/i);
    expect(names().filter((name) => /^postgres[.]new-|token|[.]pid$/.test(name))).toEqual([]);
  } finally {
    child.kill('SIGKILL');
  }
});
