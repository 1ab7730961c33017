// Usage: node scripts/build-client.mjs. Generates the types from the API documents, and compiles client/ into
// client/dist.
import { spawnSync } from 'node:child_process';
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import openapiTS, { astToString } from 'openapi-typescript';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const GENERATED = 'client/src/generated';
const DOCUMENTS = ['profile-a', 'profile-b', 'admin'];
const HEAD = '// Written by scripts/build-client.mjs from the OpenAPI document; not edited by hand.\n';

/** The generated types of each document, by file name. */
export async function clientTypes(root = ROOT) {
  const files = new Map();
  for (const name of DOCUMENTS) {
    const document = pathToFileURL(join(root, 'docs', `${name}.openapi.json`));
    files.set(join(root, GENERATED, `${name}.ts`), HEAD + astToString(await openapiTS(document)));
  }
  return files;
}

/** Does not touch files that are up to date, so that they keep their modification time. */
async function writeTypes(root) {
  await mkdir(join(root, GENERATED), { recursive: true });
  for (const [file, text] of await clientTypes(root)) {
    const before = await readFile(file, 'utf8').catch(() => '');
    if (before !== text) await writeFile(file, text);
  }
}

async function newestOf(paths) {
  const times = paths.map(async (path) => (await stat(path).catch(() => undefined))?.mtimeMs ?? 0);
  return Math.max(...(await Promise.all(times)));
}

/** Whether a document or a source is newer than the build. */
export async function isClientStale(root = ROOT) {
  const client = join(root, 'client');
  const sources = (await readdir(join(client, 'src'))).map((name) => join(client, 'src', name));
  const documents = DOCUMENTS.map((name) => join(root, 'docs', `${name}.openapi.json`));
  const built = await newestOf([join(client, 'dist', 'index.js')]);
  return (await newestOf([...documents, ...sources, join(client, 'tsconfig.json')])) > built;
}

export async function buildClient(root = ROOT) {
  await writeTypes(root);
  await rm(join(root, 'client', 'dist'), { recursive: true, force: true });
  const compiler = fileURLToPath(import.meta.resolve('typescript/bin/tsc'));
  const args = [compiler, '-p', join(root, 'client', 'tsconfig.json')];
  return spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' }).status ?? 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  process.exitCode = process.argv.includes('--types') ? await writeTypes(ROOT) : await buildClient();
}
