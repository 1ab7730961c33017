// Usage: node scripts/build-plugin.mjs FOLDER [--check]
// Compiles FOLDER/assembly/index.ts (AssemblyScript) and writes the hash of the module into FOLDER/plugin.toml.
// With --check it writes nothing, and fails when the module in the folder differs from what the source compiles to.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { moduleOf, withHash } from './plugin-manifest.mjs';

const [folder = '', mode] = process.argv.slice(2);
const compiler = fileURLToPath(new URL('../node_modules/assemblyscript/bin/asc.js', import.meta.url));
const place = mkdtempSync(join(tmpdir(), 'agw-plugin-'));
process.on('exit', () => rmSync(place, { recursive: true, force: true }));

const made = join(place, 'plugin.wasm');
// No imports other than the host's functions. Without `abort`, a failure in the module traps.
const options = ['--outFile', made, '--optimize', '--use', 'abort='];
const { status } = spawnSync(process.execPath, [compiler, join(folder, 'assembly', 'index.ts'), ...options], {
  stdio: 'inherit',
});
if (status !== 0) process.exit(status ?? 1);

const manifest = join(folder, 'plugin.toml');
const text = readFileSync(manifest, 'utf8');
const { wasm: file, sha256 } = moduleOf(text);
const wasm = join(folder, file);
const hash = createHash('sha256').update(readFileSync(made)).digest('hex');
if (mode === '--check') {
  const same = sha256 === hash && readFileSync(made).equals(readFileSync(wasm));
  if (!same)
    process.stderr.write(`${wasm} is not what its source makes: node scripts/build-plugin.mjs ${folder}\n`);
  process.exitCode = same ? 0 : 1;
} else {
  copyFileSync(made, wasm);
  writeFileSync(manifest, withHash(text, hash));
  process.stdout.write(`${wasm}\nsha256 ${hash}\n`);
}
