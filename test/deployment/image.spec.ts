import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = process.cwd();
const dockerfile = readFileSync(join(ROOT, 'docker', 'Dockerfile'), 'utf8');

test('the image has agent-gateway on its PATH, as a link to the command that it starts', () => {
  expect(dockerfile).toContain('RUN ln -s /app/bin/agent-gateway.js /usr/local/bin/agent-gateway\n');
  expect(dockerfile).toContain('CMD ["agent-gateway", "serve"]');
});

test('the image contains what the sandbox of tool servers needs', () => {
  expect(dockerfile).toMatch(/apt-get install -y --no-install-recommends bubblewrap /);
});

test('the command works through such a link, from any folder', () => {
  const folder = mkdtempSync(join(tmpdir(), 'agw-path-'));
  try {
    symlinkSync(join(ROOT, 'bin', 'agent-gateway.js'), join(folder, 'agent-gateway'));
    const env = { ...process.env, PATH: `${folder}:${process.env.PATH}` };
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
    const said = execFileSync('agent-gateway', ['--version'], { cwd: folder, env, encoding: 'utf8' });
    expect(said).toBe(`${version}\n`);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('the documented lines that run it in a container name things that exist', () => {
  const operations = readFileSync(join(ROOT, 'docs', 'operations.md'), 'utf8');
  expect(operations).toMatch(/^docker exec \S+ agent-gateway \w+/m);
  expect(operations).toMatch(/^docker compose .* exec gateway agent-gateway \w+/m);
  expect(operations).toMatch(/^kubectl exec deployment\/agent-gateway -- agent-gateway \w+/m);
  expect(readFileSync(join(ROOT, 'docker', 'compose.yaml'), 'utf8')).toMatch(/^ {2}gateway:$/m);
  const manifest = readFileSync(join(ROOT, 'docker', 'kubernetes', 'base', 'deployment.yaml'), 'utf8');
  expect(manifest).toMatch(/^ {2}name: agent-gateway$/m);
  expect(manifest).not.toContain('bin/agent-gateway.js');
});

test('only its owner can read the documented backup', () => {
  const line = /^\(umask .*backup\.tgz \.\)$/m.exec(
    readFileSync(join(ROOT, 'docs', 'operations.md'), 'utf8'),
  )?.[0];
  const folder = mkdtempSync(join(tmpdir(), 'agw-backup-'));
  try {
    mkdirSync(join(folder, 'data'));
    writeFileSync(join(folder, 'data', 'master.key'), 'x');
    execFileSync('/bin/sh', ['-c', line ?? 'exit 1'], { cwd: folder });
    expect(statSync(join(folder, 'backup.tgz')).mode & 0o777).toBe(0o600);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('settings of a checkout, packages and backups cannot be committed by mistake', () => {
  const lines = readFileSync(join(ROOT, '.gitignore'), 'utf8').split('\n');
  // Only at the root: the manifests have a gateway.toml of their own.
  expect(lines).toEqual(expect.arrayContaining(['/gateway.toml', '/*.tgz', '.env', 'data/']));
});
