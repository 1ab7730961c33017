import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ProcessBench } from '../harness/gateway-process.js';
import { HttpCaller } from '../harness/http-caller.js';

const bench = new ProcessBench();
afterEach(() => bench.clear());

interface Coverage {
  readonly result: readonly { readonly url: string }[];
}

/** The files that a process has loaded, by V8's coverage. */
function loadedFiles(folder: string): string[] {
  return readdirSync(folder)
    .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as Coverage)
    .flatMap(({ result }) => result.map(({ url }) => url));
}

/**
 * Requests every GET route without parameters.
 * @returns those not answered 200
 */
async function wrongReads(caller: HttpCaller, base: string): Promise<string[]> {
  const document = (await (await fetch(new URL('/openapi.json', base))).json()) as {
    readonly paths: Readonly<Record<string, { readonly get?: object }>>;
  };
  const paths = Object.entries(document.paths)
    .filter(([path, { get }]) => get !== undefined && !/\{|stream/.test(path))
    .map(([path]) => path.replace('/api/v1', ''));
  expect(paths).toContain('/sessions');
  const answers = await Promise.all(paths.map(async (path) => ({ path, ...(await caller.get(path)) })));
  return answers.filter(({ status }) => status !== 200).map(({ path, status }) => `${path} ${status}`);
}

test('what runs is the bundle alone: no library is loaded a second time beside it', async () => {
  const folder = await bench.folder();
  const coverage = join(folder, 'coverage');
  const gateway = await bench.serve({
    cwd: folder,
    env: { GATEWAY_DATA_DIR: join(folder, 'data'), NODE_V8_COVERAGE: coverage },
  });
  const operations = new HttpCaller(gateway.operations, undefined);
  expect((await operations.get('/readyz')).status).toBe(200);
  const caller = new HttpCaller(gateway.b, gateway.token);
  const made = await caller.post('/sessions', { channel: 'api', user_id: 'ada' });
  expect(made.status).toBe(201);
  const { id } = made.body as { id: string };
  expect((await caller.post(`/sessions/${id}/messages`, { content: 'hello' })).status).toBe(200);
  expect(await wrongReads(caller, gateway.b)).toEqual([]);
  expect((await caller.get(`/sessions/${id}/messages?limit=1`)).status).toBe(200);
  gateway.kill('SIGTERM');
  expect((await gateway.ended).code).toBe(0);

  const files = loadedFiles(coverage);
  expect(files.filter((url) => url.includes('/dist/bundle/')).length).toBeGreaterThan(5);
  expect(files.filter((url) => /\/(node_modules|dist\/src)\//.test(url))).toEqual([]);
});

/** For a separate process: the first script that is loaded on demand cannot be read the first time. */
const READ_LATE = `
  const fs = require('node:fs');
  const read = fs.readFileSync;
  let isFull = false;
  fs.readFileSync = (path, ...more) => {
    if (isFull && String(path).endsWith('.cjs')) throw Object.assign(new Error('too many open files'), { code: 'EMFILE' });
    return read(path, ...more);
  };
  const { load } = require('./bin/bundle-loader.cjs');
  load('agent-gateway.cjs');
  const late = fs.readdirSync('dist/bundle').find((name) => /^start-gateway-.*\\.cjs$/.test(name));
  isFull = true;
  const refused = (() => { try { load(late); } catch ({ code }) { return code; } })();
  isFull = false;
  process.stdout.write(JSON.stringify([refused, Object.keys(load(late))]));
  process.exit();
`;

test('a script that could not be read is read by the next one who needs it', () => {
  const said = execFileSync(process.execPath, ['-e', READ_LATE], { encoding: 'utf8' });
  expect(JSON.parse(said)).toEqual(['EMFILE', ['startGateway']]);
});
