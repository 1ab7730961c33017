import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';

const run = promisify(execFile);
jest.setTimeout(180_000);

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agw-client-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test('the types are those of the documents', async () => {
  const script = `import('./scripts/build-client.mjs').then(async ({ clientTypes }) =>
    process.stdout.write(JSON.stringify([...(await clientTypes())])))`;
  const { stdout } = await run(process.execPath, ['-e', script], { maxBuffer: 10_000_000 });
  for (const [file, text] of JSON.parse(stdout) as [string, string][])
    expect([file, await readFile(file, 'utf8')]).toEqual([file, text]);
});

test('is bundled for browsers, without anything of Node', async () => {
  const { metafile, errors, warnings } = await build({
    ...{ entryPoints: ['client/src/index.ts'], bundle: true, platform: 'browser', format: 'esm' },
    ...{ metafile: true, write: false, logLevel: 'silent' },
  });
  expect([errors, warnings]).toEqual([[], []]);
  const imports = Object.values(metafile.inputs).flatMap((input) => input.imports.map(({ path }) => path));
  expect(imports.filter((path) => path.startsWith('node:') || path.startsWith('(disabled)'))).toEqual([]);
});

test('what `npm pack` packs is a module with its types', async () => {
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder], { cwd: 'client' });
  const [packed] = JSON.parse(stdout.slice(stdout.indexOf('['))) as [
    { filename: string; files: { path: string }[] },
  ];
  const paths = packed.files.map(({ path }) => path);
  expect(paths).toEqual(expect.arrayContaining(['package.json', 'dist/index.js', 'dist/index.d.ts']));
  expect(paths.filter((path) => !path.startsWith('dist/'))).toEqual(['package.json']);
  await run('tar', ['xzf', join(folder, packed.filename), '-C', folder]);
  const module = join(folder, 'package', 'dist', 'index.js');
  const dependencies = join(process.cwd(), 'node_modules');
  await run('ln', ['-s', dependencies, join(folder, 'node_modules')]);
  const use = join(folder, 'use.mjs');
  await writeFile(
    use,
    `import * as all from ${JSON.stringify(module)}; console.log(Object.keys(all).sort().join());`,
  );
  expect((await run(process.execPath, [use])).stdout.trim()).toBe(
    'RequestError,TurnStreams,adminApi,everyItem,everyMessage,everySession,orThrow,profileA,profileB,verifiedEvent',
  );
});
