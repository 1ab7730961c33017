import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'smol-toml';

jest.setTimeout(180_000);

const SCRIPTS = join(process.cwd(), 'scripts');
const HASH = 'f'.repeat(64);

/** A plugin.toml with HASH in it, as the script writes it. */
function hashed(toml: string): string {
  const code = `import { withHash } from ${JSON.stringify(join(SCRIPTS, 'plugin-manifest.mjs'))};
    process.stdout.write(withHash(process.argv[1], '${HASH}'));`;
  return execFileSync(process.execPath, ['--input-type=module', '-e', code, '--', toml], {
    encoding: 'utf8',
  });
}

test.each([
  [
    'other quotes, blanks and a comment',
    `  sha256  =  'old' # pinned\nwasm='x.wasm'\n[limits]\nmemory_mb = 4\n`,
  ],
  ['a quoted key', `"sha256" = "old"\n`],
  ['words that look like the hash', `description = """\nsha256 = "not this"\n"""\nsha256 = "old"\n`],
  ['no hash yet', `wasm = "x.wasm"\n[limits]\nsha256 = "of something else"\n`],
])('a plugin.toml with %s gets the hash, and keeps everything else', (_, toml) => {
  const written = hashed(toml);
  expect(parse(written)).toEqual({ ...parse(toml), sha256: HASH });
  expect(written.match(/#.*/g)).toEqual(toml.match(/#.*/g));
});

test('the module goes where plugin.toml says, however it is written, and --check compares it with its source', () => {
  const folder = join(mkdtempSync(join(tmpdir(), 'agw-plugin-')), 'measures');
  try {
    cpSync(join(process.cwd(), 'plugins', 'measures'), folder, { recursive: true });
    const manifest = join(folder, 'plugin.toml');
    writeFileSync(manifest, `name = "measures"\n  wasm='counted.wasm'  # here\nsha256='old'\n`);
    const build = (...options: string[]) =>
      spawnSync(process.execPath, [join(SCRIPTS, 'build-plugin.mjs'), folder, ...options], {
        encoding: 'utf8',
      });
    expect(build()).toMatchObject({ status: 0, stderr: '' });
    const sha256 = createHash('sha256')
      .update(readFileSync(join(folder, 'counted.wasm')))
      .digest('hex');
    const written = readFileSync(manifest, 'utf8');
    expect(parse(written)).toEqual({ name: 'measures', wasm: 'counted.wasm', sha256 });
    expect(build('--check')).toMatchObject({ status: 0, stderr: '' });
    writeFileSync(manifest, written.replace(sha256, HASH));
    expect(build('--check').status).toBe(1);
  } finally {
    rmSync(join(folder, '..'), { recursive: true });
  }
});
