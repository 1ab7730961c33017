import { join } from 'node:path';
import { ProcessBench, postmasterPid, until } from '../harness/gateway-process.js';
import { HttpCaller } from '../harness/http-caller.js';

jest.setTimeout(120_000);

const bench = new ProcessBench();
afterAll(() => bench.clear());

interface ShownToken {
  readonly token: string;
  readonly id: string;
}

describe('auth token, while the gateway runs on the embedded database', () => {
  test('makes tokens that work at once, and ends them within 1.5 s', async () => {
    const folder = await bench.folder();
    const env = { GATEWAY_DATA_DIR: join(folder, 'data') };
    const gateway = await bench.serve({ env });
    const status = async (token: string, path = '/sessions') =>
      (await new HttpCaller(gateway.a, token).get(path)).status;

    const bare = await bench.run(['auth', 'token'], { env });
    expect(bare).toMatchObject({ code: 2, stdout: '' });
    expect(bare.stderr).toContain('rotate [options]');
    const plain = await bench.run(['auth', 'token', 'create'], { env });
    expect(plain.code).toBe(0);
    expect(plain.stdout).toMatch(/^agw_\S{49}\n$/);
    expect(plain.stderr).toContain('may do everything');
    expect(await status(plain.stdout.trim(), '/channels')).toBe(200);

    const viewer = await bench.run(
      ['auth', 'token', 'create', '--name', 'watcher', '--scopes', 'sessions:read', '--json'],
      { env },
    );
    const shown = JSON.parse(viewer.stdout) as ShownToken;
    expect(shown).toMatchObject({ name: 'watcher', scopes: ['sessions:read'], revoked_at: null });
    expect(await status(shown.token)).toBe(200);
    expect(await status(shown.token, '/channels')).toBe(403);

    const rotated = await bench.run(['auth', 'token', 'rotate', 'watcher', '--expires-in', 'never'], { env });
    expect(await status(rotated.stdout.trim())).toBe(200);
    await until(async () => (await status(shown.token)) === 401, 1500);

    expect((await bench.run(['auth', 'token', 'revoke', 'watcher'], { env })).code).toBe(0);
    await until(async () => (await status(rotated.stdout.trim())) === 401, 1500);

    const { stdout } = await bench.run(['auth', 'token', 'list'], { env });
    expect(stdout).toMatch(/watcher +sessions:read +- .* never +.*revoked/);
    expect(stdout).not.toContain('agw_');
    expect(stdout.match(/^tok_/gm)).toHaveLength(4);
    gateway.kill('SIGTERM');
    expect((await gateway.ended).code).toBe(0);
  });

  test('a token that is rotated with --keep-old works on for its time, and "never" stays never', async () => {
    const folder = await bench.folder();
    const env = { GATEWAY_DATA_DIR: join(folder, 'data') };
    const gateway = await bench.serve({ env });
    const status = async (token: string) => (await new HttpCaller(gateway.a, token).get('/sessions')).status;
    const create = ['auth', 'token', 'create', '--name', 'ci', '--expires-in', 'never'];
    const old = (await bench.run(create, { env })).stdout.trim();
    const kept = await bench.run(['auth', 'token', 'rotate', 'ci', '--keep-old', '3s'], { env });
    expect(kept.stderr).toMatch(/never expires.*\n.*The old token works until \S+Z at the latest/s);
    const keptUntil = performance.now() + 3000;
    const fresh = kept.stdout.trim();
    expect(await status(fresh)).toBe(200);
    // However busy the machine was, it must not end early.
    const early = await status(old);
    if (performance.now() < keptUntil - 1500) expect(early).toBe(200);
    await until(async () => (await status(old)) === 401, 6000);
    expect(await status(fresh)).toBe(200);

    const again = await bench.run(['auth', 'token', 'rotate', 'ci', '--json'], { env });
    expect(JSON.parse(again.stdout)).toMatchObject({ name: 'ci', expires_at: null });
    await until(async () => (await status(fresh)) === 401, 1500);
    gateway.kill('SIGTERM');
    await gateway.ended;
  });
});

describe('without a gateway', () => {
  test('migrate and auth token start the embedded database, and stop it again', async () => {
    const folder = await bench.folder();
    const env = { GATEWAY_DATA_DIR: join(folder, 'data') };
    const first = await bench.run(['migrate', '--json'], { env });
    expect(first).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(first.stdout)).toHaveProperty('migrations.0', 'CreateTokens1763700000000');
    expect((await bench.run(['migrate'], { env })).stdout).toMatch(/^Nothing to do/);
    expect(JSON.parse((await bench.run(['auth', 'token', 'list', '--json'], { env })).stdout)).toEqual({
      tokens: [],
    });
    expect(postmasterPid(env.GATEWAY_DATA_DIR)).toBeUndefined();

    const made = await bench.run(['auth', 'token', 'create', '--name', 'ci', '--user', 'ada'], { env });
    const gateway = await bench.serve({ env });
    expect(gateway.token).toBeUndefined();
    const mine = await new HttpCaller(gateway.b, made.stdout.trim()).post('/sessions', {});
    expect(mine).toMatchObject({ status: 201, body: { user_id: 'ada' } });
    gateway.kill('SIGTERM');
    await gateway.ended;
  });

  test('a token or option that is not there ends with 1, a wrong command line with 2', async () => {
    const folder = await bench.folder();
    const env = { GATEWAY_DATA_DIR: join(folder, 'data') };
    await bench.run(['migrate'], { env });
    const unknown = await bench.run(['auth', 'token', 'revoke', 'nobody'], { env });
    expect(unknown).toMatchObject({ code: 1, stdout: '' });
    expect(unknown.stderr).toMatch(/^There is no unrevoked/);
    const approved = await bench.run(['tools', 'approve', 'nope'], { env });
    expect(approved).toMatchObject({ code: 1, stdout: '' });
    expect(approved.stderr).toMatch(/^No tool of a server "nope" was ever seen/);
    const wrong = [
      ['auth', 'token', 'lst'],
      ['srve'],
      ['serve', '--nope'],
      ['auth', 'token', 'create', '--scopes', 'all'],
      [],
      ['auth'],
      ['auth', 'token'],
    ];
    for (const args of wrong) {
      const { code, stdout, stderr } = await bench.run(args, { env });
      expect({ args, code, stdout }).toEqual({ args, code: 2, stdout: '' });
      expect(stderr).not.toBe('');
    }
    for (const args of [['--help'], ['--version'], ['help', 'serve'], ['auth', 'token', 'create', '--help']])
      expect(await bench.run(args, { env })).toMatchObject({ code: 0, stderr: '' });
  });

  test('config check lists what is wrong, config show hides secrets and says where values come from', async () => {
    const wrong = await bench.run(['config', 'check', '--json'], {
      env: { GATEWAY__LOGGING__LEVEL: 'loud' },
    });
    expect(wrong.code).toBe(1);
    expect(JSON.parse(wrong.stdout)).toMatchObject({ valid: false, problems: [{ key: 'logging.level' }] });
    const right = await bench.run(['config', 'check'], { env: { GATEWAY__AGENT__MAX_TURNS: '7' } });
    expect(right).toMatchObject({ code: 0, stderr: '' });
    const shown = await bench.run(['config', 'show'], {
      env: { GATEWAY__AGENT__MAX_TURNS: '7', DATABASE_URL: 'postgres://u:secretsecret@h/x' },
    });
    expect(shown.stdout).toContain('agent.max_turns = 7  # GATEWAY__AGENT__MAX_TURNS\n');
    expect(shown.stdout).toContain('database.url = "***REDACTED***"  # DATABASE_URL\n');
    expect(shown.stdout + shown.stderr).not.toContain('secretsecret');
    expect(shown.stdout).toContain(
      'agent.tool_approval = "never"  # default; decides who may do what: a PATCH needs the scope security:write\n',
    );
    const asJson = JSON.parse((await bench.run(['config', 'show', '--json'])).stdout) as { marks: object };
    expect(asJson.marks).toMatchObject({
      'tools.approval.never': ['decides who may do what: a PATCH needs the scope security:write'],
      'security.allow_loopback': ['only in the file or the environment'],
    });
    const schema: unknown = JSON.parse((await bench.run(['config', 'schema'])).stdout);
    expect(schema).toHaveProperty('properties.agent.properties.tool_approval', {
      ...{
        type: 'string',
        enum: ['never', 'ask'],
        default: 'never',
        description: expect.anything() as string,
      },
      'x-marks': { security: true },
      $comment: 'decides who may do what: a PATCH needs the scope security:write',
    });
  });
});
