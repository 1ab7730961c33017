import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readEnvironment } from './environment.js';
import { InvalidSettings } from './invalid-settings.js';
import { type LoadedSettings, loadSettings } from './settings-loader.js';

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

/** The problems of a configuration that must not load, with the folder cut from their places. */
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
  test('without a file and without variables everything has its default', () => {
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

  test('the settings are frozen through and through', () => {
    const { settings } = load('');
    expect(Object.isFrozen(settings.gateway.profiles)).toBe(true);
    expect(Reflect.set(settings.agent, 'max_turns', 1)).toBe(false);
  });

  test('a variable is read by the type of its key', () => {
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
    const toml =
      '[gateway]\nport = "${PORT}"\ndocs = "${DOCS}"\ntrusted_proxies = ["${NET}/8"]\n[agent]\nsystem_prompt = "$${A} ${WHO}"\n';
    const { settings } = load(toml, { PORT: '8080', DOCS: 'false', NET: '10.0.0.0', WHO: '${PORT}' });
    expect(settings.gateway).toMatchObject({ port: 8080, docs: false, trusted_proxies: ['10.0.0.0/8'] });
    expect(settings.agent.system_prompt).toBe('${A} ${PORT}');
  });

  test('everything that is wrong is listed at once, with its place and what is allowed', () => {
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
      'system_prompt = "${NOBODY}"',
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
});
