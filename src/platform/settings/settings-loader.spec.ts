import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readEnvironment } from './environment.js';
import { type LoadedSettings, loadSettings } from './settings-loader.js';
import { InvalidSettings } from './settings-validation.js';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'settings-'));
});

afterEach(() => rmSync(folder, { recursive: true }));

function load(toml: string, variables: Record<string, string> = {}): LoadedSettings {
  const file = join(folder, 'gateway.toml');
  writeFileSync(file, toml);
  return loadSettings({ environment: readEnvironment({ ...variables, GATEWAY_CONFIG: file }) });
}

/** The problems of a configuration that must not load, with the folder removed. */
function problemsOf(toml: string, variables: Record<string, string> = {}): readonly string[] {
  try {
    load(toml, variables);
  } catch (error) {
    if (!(error instanceof InvalidSettings)) throw error;
    return error.problems.map(
      ({ where, key, message }) => `${where.replace(`${folder}/`, '')} | ${key} | ${message}`,
    );
  }
  throw new Error('These settings should have been refused.');
}

describe('loading the settings', () => {
  test('without a file and variables every key has its default', () => {
    const { settings, sources, warnings } = loadSettings({ environment: readEnvironment({}) });
    expect(settings.agent.max_turns).toBe(50);
    expect(settings.gateway.profiles).toEqual(['a', 'b']);
    expect(settings.database).toMatchObject({ url: '', data_dir: './data' });
    expect(new Set([...sources.values()].map(({ layer }) => layer))).toEqual(new Set(['default']));
    expect(warnings).toEqual([]);
  });

  test('the environment wins over the file, and the file over the default', () => {
    const toml = '[agent]\nmax_turns = 7\nmax_waiting = 3\n';
    const { settings, sources } = load(toml, { GATEWAY__AGENT__MAX_TURNS: '9' });
    expect(settings.agent).toMatchObject({ max_turns: 9, max_waiting: 3, max_output_tokens: 4096 });
    expect(sources.get('agent.max_turns')).toEqual({
      layer: 'environment',
      where: 'GATEWAY__AGENT__MAX_TURNS',
    });
    expect(sources.get('agent.max_waiting')).toEqual({
      layer: 'file',
      where: `${join(folder, 'gateway.toml')}:3`,
    });
    expect(sources.get('agent.max_output_tokens')).toEqual({ layer: 'default', where: '' });
  });

  test('the settings are deeply frozen', () => {
    const { settings } = load('');
    expect(Object.isFrozen(settings.gateway.profiles)).toBe(true);
    expect(Reflect.set(settings.agent, 'max_turns', 1)).toBe(false);
  });

  test('a variable is parsed by the type of its key', () => {
    const { settings } = load('', {
      GATEWAY__GATEWAY__DOCS: 'false',
      GATEWAY__GATEWAY__PROFILES: 'b, a',
      GATEWAY__GATEWAY__TRUSTED_PROXIES: '["10.0.0.0/8", "::1"]',
      GATEWAY__PROVIDER__MODEL: '8',
    });
    expect(settings.gateway).toMatchObject({
      docs: false,
      profiles: ['b', 'a'],
      trusted_proxies: ['10.0.0.0/8', '::1'],
    });
    expect(settings.provider.model).toBe('8');
  });

  test('references in the file are replaced from the environment, in keys of every type', () => {
    const toml = `[gateway]\nport = "\${PORT}"\ndocs = "\${DOCS}"\ntrusted_proxies = ["\${NET}/8"]\n[agent]\nsystem_prompt = "$\${A} \${WHO}"\n`;
    const { settings } = load(toml, { PORT: '8080', DOCS: 'false', NET: '10.0.0.0', WHO: `\${PORT}` });
    expect(settings.gateway).toMatchObject({ port: 8080, docs: false, trusted_proxies: ['10.0.0.0/8'] });
    expect(settings.agent.system_prompt).toBe(`\${A} \${PORT}`);
  });

  test('a reference that cannot be replaced is the only problem of its key', () => {
    expect(problemsOf(`[gateway]\nport = "\${PORT}"`)).toEqual([
      'gateway.toml:2 | gateway.port | needs PORT, not set in the environment',
    ]);
  });

  test('everything that is wrong is listed at once, with its source and what is allowed', () => {
    const toml = [
      '[gateway]',
      'port = 99999',
      'profiles = ["a", "a"]',
      'trusted_proxies = ["10.0.0.0/8", "10.0.0.0/33"]',
      'profile_a_port = 7000',
      'management_port = 7000',
      '[agent]',
      'max_turn = 3',
      'on_busy = "drop"',
      `system_prompt = "\${NOBODY}"`,
      '[agnt]',
      'x = 1',
    ].join('\n');
    expect(problemsOf(toml, { GATEWAY__AGENT__MAX_WAITING: 'many', GATEWAY__AGENT__MAX_WAIT: '1' })).toEqual([
      'gateway.toml:10 | agent.system_prompt | needs NOBODY, not set in the environment',
      'GATEWAY__AGENT__MAX_WAIT | agent.max_wait | unknown key; the nearest is GATEWAY__AGENT__MAX_WAIT_MS',
      'GATEWAY__AGENT__MAX_WAITING | agent.max_waiting | expected integer from 0 to 10000',
      'gateway.toml:2 | gateway.port | expected integer from 0 to 65535',
      'gateway.toml:3 | gateway.profiles | must name each profile once',
      'gateway.toml:4 | gateway.trusted_proxies.1 | must be an address or a CIDR such as 10.0.0.0/8',
      'gateway.toml:9 | agent.on_busy | expected one of "queue", "reject"',
      'gateway.toml:8 | agent.max_turn | unknown key; the nearest is agent.max_turns',
      'gateway.toml:11 | agnt | unknown key; the nearest is agent',
      'gateway.toml:6 | gateway.management_port | must differ from gateway.profile_a_port',
    ]);
  });

  test('a value is never repeated, since any may be a misplaced secret', () => {
    const toml = `
      [database]
      url = "mysql://u:canary-1@db/gateway"
      [provider]
      api_key = 17777777
      base_url = "https://user:canary-2@models.example"
      kind = "canary-3"
      model = "canary-4\${"
    `;
    const problems = problemsOf(toml, {
      GATEWAY__GATEWAY__PORT: 'canary-5',
      GATEWAY__GATEWAY__PROFILES: '["canary-6"',
    });
    expect(problems).toHaveLength(7);
    expect(problems.join()).not.toMatch(/canary|17777777/);
  });

  test('a file that is not TOML is reported with line and column, and not quoted', () => {
    const problems = problemsOf('[provider]\napi_key = canary', { GATEWAY__GATEWAY__PORT: 'x' });
    expect(problems).toEqual([
      expect.stringMatching(/^gateway\.toml:2:11 \| {2}\| Invalid TOML document: /),
      'GATEWAY__GATEWAY__PORT | gateway.port | expected integer from 0 to 65535',
    ]);
    expect(problems.join()).not.toContain('canary');
  });

  test.each([
    [
      'bytes that are not UTF-8',
      Buffer.from([0x61, 0xff]),
      'gateway.toml: holds bytes that are not UTF-8; save it as UTF-8',
    ],
    ['UTF-16', Buffer.from('\ufeff[agent]\n', 'utf16le'), 'gateway.toml: is UTF-16; save it as UTF-8'],
    [
      'UTF-16 without a mark',
      Buffer.from('[agent]\n', 'utf16le'),
      'gateway.toml: is UTF-16; save it as UTF-8',
    ],
    [
      'UTF-16, the great end first',
      Buffer.from('\ufeff[agent]\n', 'utf16le').swap16(),
      'is UTF-16; save it as UTF-8',
    ],
    ['a file without end', Buffer.alloc(1_048_577, ' '), 'larger than 1048576 bytes'],
    ['a name that reaches the prototype', Buffer.from('[agent.__proto__]\nmax_turns = 1'), 'unsafe'],
  ])('%s are refused', (_, bytes, reason) => {
    const file = join(folder, 'gateway.toml');
    writeFileSync(file, bytes);
    expect(() => loadSettings({ environment: readEnvironment({}), file })).toThrow(reason);
  });

  test('a byte order mark before UTF-8 is accepted', () => {
    expect(load('\ufeff[agent]\nmax_turns = 3').settings.agent.max_turns).toBe(3);
  });

  test('a folder in place of a file is reported as one', () => {
    expect(() => loadSettings({ environment: readEnvironment({}), file: folder })).toThrow(
      `${folder}: is a folder; name the file in it, such as gateway.toml`,
    );
  });

  test.each([
    [
      'a key',
      '[agent]\nmax_turns = 1\n\nmax_turns = 2',
      '4:1 | agent.max_turns | is set twice; first on line 2. Keep one',
    ],
    ['a table', '[agent]\nmax_turns = 1\n[agent]\n', '3:2 | agent | is set twice; first on line 1. Keep one'],
    [
      'a key with dots',
      'agent.max_turns = 1\nagent.max_turns = 2',
      '2:1 | agent.max_turns | is set twice; first on line 1. Keep one',
    ],
    ['a key in braces', '[a]\nb = {x = 1, x = 2}', '2:13 | a.b | sets something for the second time'],
  ])('%s that is set twice is named, with both lines', (_, toml, problem) => {
    expect(problemsOf(toml)).toEqual([expect.stringMatching(/^gateway\.toml:/)]);
    expect(problemsOf(toml)[0]).toBe(`gateway.toml:${problem}`);
  });

  test('a file that was asked for must exist', () => {
    const file = join(folder, 'absent.toml');
    expect(() => loadSettings({ environment: readEnvironment({ GATEWAY_CONFIG: file }) })).toThrow(
      `${file}: there is no such file`,
    );
  });

  test('DATABASE_URL and GATEWAY_DATA_DIR set what nothing else sets', () => {
    const variables = { DATABASE_URL: 'postgres://u:p@db/one', GATEWAY_DATA_DIR: '/var/lib/gateway' };
    const filled = load('[database]\nurl = ""', variables);
    expect(filled.settings.database).toMatchObject({
      url: 'postgres://u:p@db/one',
      data_dir: '/var/lib/gateway',
    });
    expect(filled.sources.get('database.url')).toEqual({ layer: 'environment', where: 'DATABASE_URL' });
    const set = load('[database]\nurl = "postgres://file/two"\ndata_dir = "here"', variables);
    expect(set.settings.database).toMatchObject({ url: 'postgres://file/two', data_dir: 'here' });
  });

  test('a wrong DATABASE_URL is blamed on that variable', () => {
    expect(problemsOf('', { DATABASE_URL: 'canary' })).toEqual([
      expect.stringMatching(/^DATABASE_URL \| database\.url \| must be a postgres/),
    ]);
  });

  test.each([
    ['mysql://u:canary@db/one', 'names MySQL; the gateway needs PostgreSQL 14 or later'],
    ['mariadb://db/one', 'names MariaDB; '],
    ['sqlite:///one.db', 'names SQLite; '],
    ['mongodb+srv://u:canary@db', 'names MongoDB; '],
    ['jdbc:postgresql://db/canary', 'is a JDBC URL; write it as postgres://'],
  ])('a DATABASE_URL of another system is named as such: %s', (url, message) => {
    const [problem, ...others] = problemsOf('', { DATABASE_URL: url });
    expect(problem).toContain(`DATABASE_URL | database.url | ${message}`);
    expect(others).toEqual([]);
    expect(problem).not.toContain('canary');
    expect(problem).not.toMatch(/:\/\/[^/]*@/);
  });

  test('the keys of the providers are not copied into the settings', () => {
    const { settings } = load('', { ANTHROPIC_API_KEY: 'canary', OPENAI_API_KEY: 'canary' });
    expect(JSON.stringify(settings)).not.toContain('canary');
  });

  test('two variables that set one key, and a variable that sets a section, are refused', () => {
    expect(
      problemsOf('', {
        GATEWAY__AGENT__MAX_TURNS: '1',
        GATEWAY__agent__max_turns: '2',
        GATEWAY__AGENT: '{}',
      }),
    ).toEqual([
      'GATEWAY__AGENT | agent | is a section; set one of its keys',
      'GATEWAY__agent__max_turns | agent.max_turns | is also set by GATEWAY__AGENT__MAX_TURNS',
    ]);
  });

  test('variables that were probably meant for the gateway get a warning', () => {
    const { warnings } = load('', {
      GATEWAY_MASTERKEY: 'x',
      GATEWAY_LOGGING__LEVEL: 'x',
      GATEWAY_PORT: 'tcp://10.0.0.1:1',
      GATEWAY_AGENT_MAX_TURNS: '3',
      GATEWAY_RATE_LIMITS__SESSIONS_READ: '3',
      GATEWAY_AGENT__MAX_TURN: '3',
    });
    expect(warnings).toEqual([
      'GATEWAY_MASTERKEY is not read; the nearest is GATEWAY_MASTER_KEY',
      'GATEWAY_LOGGING__LEVEL is not read; the variable of this setting is GATEWAY__LOGGING__LEVEL',
      'GATEWAY_AGENT_MAX_TURNS is not read; the variable of this setting is GATEWAY__AGENT__MAX_TURNS',
      'GATEWAY_RATE_LIMITS__SESSIONS_READ is not read; the variable of this setting is GATEWAY__RATE_LIMITS__SESSIONS_READ',
      'GATEWAY_AGENT__MAX_TURN is not read: the variable of a setting starts with GATEWAY__',
    ]);
  });

  test('the error is one text for people and a 400 with the fields for callers', () => {
    const error = new InvalidSettings([{ where: 'X', key: 'agent.max_turns', message: 'expected integer' }]);
    expect(error.message).toBe('The configuration has one problem:\n  X: agent.max_turns: expected integer');
    expect(error).toMatchObject({
      status: 400,
      details: { fields: [{ path: 'agent.max_turns', message: 'expected integer' }] },
    });
  });
});
