import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { readEnvironment, SECRET_VARIABLES, variableOf } from './environment.js';

describe('the environment', () => {
  test('an empty variable counts as unset, except when looked up by name', () => {
    const environment = readEnvironment({ DATABASE_URL: '', EMPTY: '', GATEWAY_CONFIG: 'a.toml' });
    expect(environment.databaseUrl).toBeUndefined();
    expect(environment.configFile).toBe('a.toml');
    expect(environment.lookup('EMPTY')).toBe('');
    expect(environment.lookup('ABSENT')).toBeUndefined();
  });

  test('a later change of the variables does not reach the snapshot', () => {
    const variables: Record<string, string> = { NODE_ENV: 'production' };
    const environment = readEnvironment(variables);
    variables.NODE_ENV = 'test';
    expect(environment.nodeEnv).toBe('production');
    expect(Object.isFrozen(environment)).toBe(true);
  });

  test('inspecting or serialising it shows no value', () => {
    const environment = readEnvironment({ GATEWAY_MASTER_KEY: 'canary', OPENAI_API_KEY: 'canary' });
    expect(inspect(environment, { showHidden: true, depth: 9 }) + JSON.stringify(environment)).not.toContain(
      'canary',
    );
    expect(environment.secrets).toEqual(['canary', 'canary']);
  });

  test('both master keys, and every other variable that holds a secret, are among its secrets', () => {
    const keys = { GATEWAY_MASTER_KEY: 'canary-1', GATEWAY_MASTER_KEY_PREVIOUS: 'canary-2' };
    expect(readEnvironment(keys).secrets).toEqual(['canary-1', 'canary-2']);
    for (const name of SECRET_VARIABLES)
      expect([name, readEnvironment({ [name]: 'canary' }).secrets]).toEqual([name, ['canary']]);
  });

  test.each([
    ['authorization=Bearer canary-1,x-key=canary-2', ['canary-1', 'canary-2']],
    ['authorization=Bearer%20canary-1', ['Bearer%20canary-1', 'canary-1']],
    [
      'Authorization=Basic%20YWRhOmNhbmFyeQ==',
      ['Basic%20YWRhOmNhbmFyeQ==', 'YWRhOmNhbmFyeQ==', 'ada:canary', 'canary'],
    ],
    ['x-key=100%canary', ['100%canary']],
    ['x-env=production,service.name=agent-gateway', []],
    ['x-custom=0af7651916cd43dd8448eb211c80319c', ['0af7651916cd43dd8448eb211c80319c']],
  ])(
    'of the headers of a collector, %s, credentials are secret by themselves, and words are none',
    (headers, credentials) => {
      for (const signal of ['', 'TRACES_', 'METRICS_', 'LOGS_']) {
        const { secrets } = readEnvironment({ [`OTEL_EXPORTER_OTLP_${signal}HEADERS`]: headers });
        expect(secrets).toEqual([headers, ...credentials]);
      }
    },
  );

  test('the password of a proxy is secret as written and decoded, even where it is not encoded as in a URL', () => {
    const secretsOf = (HTTPS_PROXY: string) => readEnvironment({ HTTPS_PROXY }).secrets;
    expect(secretsOf('http://ada:can%40ary@proxy:3128')).toEqual(['can%40ary', 'can@ary']);
    expect(secretsOf('http://ada:100%canary@proxy:3128')).toEqual(['100%canary', '100%canary']);
  });

  test('the name of a variable and the path of its key convert into each other', () => {
    const variable = variableOf(['rate_limits', 'sessions_write']);
    expect(variable).toBe('GATEWAY__RATE_LIMITS__SESSIONS_WRITE');
    expect(readEnvironment({ [variable]: '1' }).settings).toEqual([
      { variable, path: ['rate_limits', 'sessions_write'], value: '1' },
    ]);
  });

  test('without an argument it reads process.env', () => {
    expect(readEnvironment().lookup('PATH')).toBe(process.env.PATH);
  });
});

test('no other file of the gateway reads process.env', () => {
  const source = join(__dirname, '../..');
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((file) =>
    /(?<!\.spec)\.ts$/.test(file),
  );
  const readers = files.filter((file) => readFileSync(join(source, file), 'utf8').includes('process.env'));
  expect(readers).toEqual([join('platform', 'settings', 'environment.ts')]);
});
