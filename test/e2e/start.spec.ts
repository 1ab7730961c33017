import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, statSync } from 'node:fs';
import { chmod, mkdir } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import {
  isAlive,
  ProcessBench,
  pasteLines,
  postmasterPid,
  runningPostmaster,
} from '../harness/gateway-process.js';
import { HttpCaller } from '../harness/http-caller.js';

/** Starts take long on a busy machine. */
jest.setTimeout(120_000);

const bench = new ProcessBench();
afterAll(() => bench.clear());

const isInstalled = (name: string): boolean => {
  try {
    execFileSync(name, ['--version']);
    return true;
  } catch {
    return false;
  }
};
const hasShellAndCurl = ['bash', 'curl'].every(isInstalled);
/** util-linux provides the terminal; elsewhere the command `script` has other options. */
const hasScript = process.platform === 'linux' && isInstalled('script');

function pasted(lines: string, env: Record<string, string> = {}): string {
  return execFileSync('bash', ['-ec', lines], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

describe('the first start', () => {
  test('without a terminal keeps its token in a file for its owner alone, with lines that work when pasted; the next start makes none', async () => {
    const folder = await bench.folder();
    const env = { GATEWAY_DATA_DIR: join(folder, 'data') };
    const first = await bench.serve({ env });
    const file = join(env.GATEWAY_DATA_DIR, 'first-token');
    const link = join(env.GATEWAY_DATA_DIR, 'sign-in-link');
    for (const secret of [file, link]) expect(statSync(secret).mode & 0o777).toBe(0o600);
    expect(readFileSync(link, 'utf8')).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/console#code=[\w-]{43}\n$/);
    expect(first.token).toMatch(/^agw_/);
    expect(first.pasteLines).toContain(`TOKEN=${first.token}`);
    const tokenAlone = /`(grep [^`]*data\/first-token)`/.exec(readFileSync('README.md', 'utf8'))?.[1] ?? '';
    expect(execFileSync('bash', ['-ec', tokenAlone], { cwd: folder, encoding: 'utf8' })).toBe(
      `${first.token}\n`,
    );
    if (hasShellAndCurl) {
      const said = pasted(first.pasteLines);
      expect(said).toContain('"role":"assistant"');
      expect(said).toContain('"turn_count":1');
    }
    const postmaster = runningPostmaster(env.GATEWAY_DATA_DIR);
    first.kill('SIGTERM');
    const { code, stdout, stderr } = await first.ended;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(isAlive(postmaster)).toBe(false);
    // Standard output has only JSON lines, none with the token; one says where it is.
    const lines = stdout.trim().split('\n');
    expect(
      lines.map((line) => JSON.parse(line) as { file?: string }).flatMap((line) => line.file ?? []),
    ).toEqual([link, file]);
    expect(stdout).not.toContain('agw_');
    expect(stdout).not.toContain('#code=');
    rmSync(file);

    const second = await bench.serve({ env });
    expect(second.token).toBeUndefined();
    expect((await new HttpCaller(second.a, first.token).get('/sessions')).status).toBe(200);
    second.kill('SIGINT');
    const end = await second.ended;
    expect({ code: end.code, stderr: end.stderr }).toEqual({ code: 0, stderr: '' });
    for (const line of end.stdout.trim().split('\n')) expect(JSON.parse(line)).toHaveProperty('message');
    expect(existsSync(file)).toBe(false);
  });

  const onTerminal = hasScript ? test : test.skip;
  onTerminal(
    'on a terminal shows the token and lines that work when pasted; the next start shows how to make another (needs util-linux)',
    async () => {
      const folder = await bench.folder();
      const dataDir = join(folder, 'data');
      const env = { GATEWAY_DATA_DIR: dataDir };
      const first = await bench.serveOnTerminal({ env });
      const token = /^ {2}(agw_\S+)\r?$/m.exec(first.screen())?.[1];
      expect(token).toMatch(/^agw_/);
      expect(pasteLines(first.screen())).toContain(`TOKEN=${token}`);
      if (hasShellAndCurl) expect(pasted(pasteLines(first.screen()))).toContain('"turn_count":1');
      expect(existsSync(join(dataDir, 'first-token'))).toBe(false);
      expect(await first.interrupt()).toBe(0);

      const second = await bench.serveOnTerminal({ env });
      expect(second.screen()).not.toContain('agw_');
      if (hasShellAndCurl) {
        const npx = {
          HOME: folder,
          npm_config_cache: join(folder, 'npm'),
          npm_config_update_notifier: 'false',
        };
        expect(pasteLines(second.screen())).toContain('npx agent-gateway auth token create');
        expect(pasted(pasteLines(second.screen()), npx)).toContain('"role":"assistant"');
      }
      expect(await second.interrupt()).toBe(0);
    },
  );

  test('of two gateways at once on a new data directory makes one token, and the directory may exist', async () => {
    const folder = await bench.folder();
    const dataDir = join(folder, 'data');
    await mkdir(dataDir, { mode: 0o755 });
    const env = { GATEWAY_DATA_DIR: dataDir };
    const both = await Promise.all([bench.serve({ env }), bench.serve({ env })]);
    const tokens = both.flatMap(({ token }) => token ?? []);
    expect(tokens).toHaveLength(1);
    for (const { a, b } of both) {
      expect((await new HttpCaller(a, tokens[0]).get('/sessions')).status).toBe(200);
      expect((await new HttpCaller(b, tokens[0]).get('/sessions')).status).toBe(200);
    }
    const postmaster = runningPostmaster(dataDir);
    const [one, other] = both;
    one.kill('SIGTERM');
    expect((await one.ended).code).toBe(0);
    expect(isAlive(postmaster)).toBe(true);
    expect((await new HttpCaller(other.a, tokens[0]).post('/sessions', {})).status).toBe(201);
    other.kill('SIGTERM');
    expect((await other.ended).code).toBe(0);
    expect(isAlive(postmaster)).toBe(false);
  });

  test('installs the token of GATEWAY_BOOTSTRAP_TOKEN instead of making one, and shows no token', async () => {
    const folder = await bench.folder();
    const token = (await bench.run(['auth', 'token', 'mint'])).stdout.trim();
    const env = { GATEWAY_DATA_DIR: join(folder, 'data'), GATEWAY_BOOTSTRAP_TOKEN: token };
    const gateway = await bench.serve({ env });
    expect((await new HttpCaller(gateway.b, token).get('/sessions')).status).toBe(200);
    expect(existsSync(join(env.GATEWAY_DATA_DIR, 'first-token'))).toBe(false);
    gateway.kill('SIGTERM');
    const { code, stdout, stderr } = await gateway.ended;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).not.toContain('agw_');
    for (const line of stdout.trim().split('\n')) expect(JSON.parse(line)).toHaveProperty('message');
  });
});

const holders: ReturnType<typeof createServer>[] = [];
afterAll(() => {
  for (const server of holders) server.close();
});

async function takenPort(): Promise<number> {
  const server = createServer();
  holders.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

describe('a start that cannot succeed', () => {
  test('names a port that is taken in one line, ends with 1 and leaves no server behind', async () => {
    const folder = await bench.folder();
    const dataDir = join(folder, 'data');
    const port = await takenPort();
    const { code, stderr } = await bench.run(['serve'], {
      env: {
        GATEWAY_DATA_DIR: dataDir,
        GATEWAY__GATEWAY__PORT: '0',
        GATEWAY__GATEWAY__PROFILE_A_PORT: '0',
        GATEWAY__GATEWAY__MANAGEMENT_PORT: String(port),
      },
    });
    expect(code).toBe(1);
    expect(stderr).toBe(
      `Port 127.0.0.1:${port} is taken: stop what uses it, or set gateway.management_port (or GATEWAY__GATEWAY__MANAGEMENT_PORT) to another.\n`,
    );
    expect(existsSync(join(dataDir, 'postgres', 'PG_VERSION'))).toBe(true);
    expect(postmasterPid(dataDir)).toBeUndefined();
    // A token that could not be shown is not created.
    const gateway = await bench.serve({ env: { GATEWAY_DATA_DIR: dataDir } });
    expect(gateway.token).toMatch(/^agw_/);
    gateway.kill('SIGTERM');
    await gateway.ended;
  });

  test('lists everything that is wrong with its settings, before it touches anything', async () => {
    const folder = await bench.folder();
    const { code, stdout, stderr } = await bench.run(['serve'], {
      env: {
        GATEWAY_DATA_DIR: join(folder, 'data'),
        GATEWAY__LOGGING__LEVEL: 'loud',
        GATEWAY__AGENT__MAX_TURN: '5',
        GATEWAY__GATEWAY__PORT: 'ninety',
        GATEWAY_BOOTSTRAP_TOKEN: 'letmein',
      },
    });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('The configuration has 4 problems:');
    expect(stderr).toMatch(/logging\.level: expected one of "trace"/);
    expect(stderr).toMatch(/the nearest is GATEWAY__AGENT__MAX_TURNS/);
    expect(stderr).toMatch(/gateway\.port/);
    expect(stderr).toMatch(/GATEWAY_BOOTSTRAP_TOKEN: is not a token/);
    expect(stderr).not.toContain('letmein');
    expect(existsSync(join(folder, 'data'))).toBe(false);
  });

  test('says what is wrong with the database, in one line', async () => {
    const { code, stderr } = await bench.run(['serve'], {
      env: { DATABASE_URL: `postgres://u:secretsecret@127.0.0.1:1/x` },
    });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^The database cannot be reached .*check DATABASE_URL.*\n$/);
    expect(stderr).not.toContain('secretsecret');
  });
});

/** An ordinary user cannot follow a link into a project that only its owner may enter, so the files are copied. */
const LINK_MODULES = `
  ordinary() { setpriv --reuid=65534 --clear-groups test -r "$1/package.json" 2>/dev/null; }
  if [ "$(id -u)" != 0 ] || ordinary "$1/pg"; then ln -s "$1" "$2"; else cp -al "$1" "$2" 2>/dev/null || cp -R "$1" "$2"; fi`;

describe('a checkout elsewhere', () => {
  let checkout: string;
  beforeAll(async () => {
    const folder = await bench.folder('agw with spaces ');
    await chmod(folder, 0o755);
    checkout = join(folder, "it's here");
    await mkdir(checkout);
    for (const part of ['bin', 'dist', 'package.json', 'scripts'])
      execFileSync('cp', ['-R', join(process.cwd(), part), checkout]);
    execFileSync('sh', ['-c', LINK_MODULES, 'sh', join(process.cwd(), 'node_modules'), checkout]);
  });

  test('runs in a path with spaces by npm start, with its data beside it, and a signal to npm stops it', async () => {
    const npm = { npm_config_cache: join(checkout, 'npm'), npm_config_update_notifier: 'false' };
    const gateway = await bench.serve({ checkout, npm: true, env: npm });
    const postmaster = runningPostmaster(join(checkout, 'data'));
    if (hasShellAndCurl) expect(pasted(gateway.pasteLines)).toContain('"role":"assistant"');
    gateway.kill('SIGTERM');
    const { code, stdout } = await gateway.ended;
    expect(code).toBe(0);
    expect(stdout).toContain('the gateway has stopped');
    expect(isAlive(postmaster)).toBe(false);
  });

  const isRoot = process.getuid?.() === 0;
  (isRoot ? test : test.skip)('runs as an ordinary user (needs root to become one)', async () => {
    const folder = await bench.folder();
    const uid = 65_534;
    await chmod(folder, 0o777);
    const env = { GATEWAY_DATA_DIR: join(folder, 'data') };
    const gateway = await bench.serve({ checkout, env, uid });
    const said = await new HttpCaller(gateway.a, gateway.token).post('/sessions', {});
    expect(said.status).toBe(201);
    // root may look too, and leaves everything as it is.
    const list = await bench.run(['auth', 'token', 'list', '--json'], { env });
    expect(JSON.parse(list.stdout)).toMatchObject({ tokens: [{ name: 'admin' }] });
    gateway.kill('SIGTERM');
    expect((await gateway.ended).code).toBe(0);
    expect(postmasterPid(env.GATEWAY_DATA_DIR)).toBeUndefined();
  });

  test('without a build says which command makes one', async () => {
    const bare = await bench.folder();
    for (const part of ['bin', 'package.json']) execFileSync('cp', ['-R', join(process.cwd(), part), bare]);
    const { code, stderr } = await bench.run(['serve'], { checkout: bare });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^agent-gateway is not built yet: run `npm run build`.*\n$/);
  });

  test('on a Node that is too old says which one it needs', async () => {
    const old = await bench.folder();
    execFileSync('cp', ['-R', join(process.cwd(), 'bin'), old]);
    execFileSync(
      'sh',
      ['-c', `echo '{"type":"module","engines":{"node":"^18.1.0 || >=99.2.0"}}' > package.json`],
      {
        cwd: old,
      },
    );
    const { code, stderr } = await bench.run(['--version'], { checkout: old });
    expect(code).toBe(1);
    expect(stderr).toBe(
      `agent-gateway needs Node ^18.1.0 || >=99.2.0; this is Node ${process.versions.node}.\n`,
    );
  });
});
