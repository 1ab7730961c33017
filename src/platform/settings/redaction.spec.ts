import { readEnvironment } from './environment.js';
import { redactedTree, redactionMarker, secretValues } from './redaction.js';
import { settingsSchema } from './settings.schema.js';
import { loadSettings } from './settings-loader.js';

function settingsWith(variables: Record<string, string>) {
  return loadSettings({ environment: readEnvironment(variables) }).settings;
}

describe('showing the settings', () => {
  test('a secret that is set reads as the marker, an empty one as empty', () => {
    const tree = redactedTree(settingsWith({ GATEWAY__PROVIDER__API_KEY: 'canary' }));
    expect(tree).toMatchObject({ provider: { api_key: redactionMarker }, database: { url: '' } });
    expect(JSON.stringify(tree)).not.toContain('canary');
  });

  test('everything else is the same tree', () => {
    const settings = settingsSchema.parse({});
    expect(redactedTree(settings)).toEqual(settings);
  });

  test('the secrets in force include the passwords within URLs, as written and decoded', () => {
    const url = 'postgres://gateway:one%20two@db/gateway?password=three';
    const settings = settingsWith({ DATABASE_URL: url, GATEWAY__PROVIDER__API_KEY: 'sk-four' });
    expect(secretValues(settings)).toEqual(['sk-four', url, 'one%20two', 'one two', 'three']);
    expect(secretValues(settingsSchema.parse({}))).toEqual([]);
  });

  test.each([
    ['https://tools.test/mcp?key=short&mode=fast&page=20', ['short']],
    [
      'https://tools.test/s/T0CK3Nk1qd93jd0aQ/mcp?id=9f8e7d6c5b4a39281706',
      ['9f8e7d6c5b4a39281706', 'T0CK3Nk1qd93jd0aQ'],
    ],
    ['https://tools.test/a-folder-of-some-team/mcp', []],
  ])('of the address %s of a tool server, what gives access is hidden alone too', (url, hidden) => {
    const settings = settingsSchema.parse({ mcp: { servers: { crm: { transport: 'http', url } } } });
    expect(secretValues(settings)).toEqual([url, ...hidden]);
  });

  test.each([
    ['API_KEY', 'lowercase', true],
    ['GITHUB_PAT', 'ghp_16charsatleast', true],
    ['DATABASE_URL', 'postgres://a:b@c/d', true],
    ['DB_PASSWORD', '/not/a/path', true],
    ['NODE_ENV', 'production', false],
    ['ALLOWED_DIR', '/srv/shared/documents', false],
    ['LANG', 'en_US.UTF-8', false],
    ['TIMEOUT_MS', '98765432', false],
  ])('of the environment of a tool server, %s=%s is hidden by its value: %s', (name, value, isHidden) => {
    const servers = { files: { transport: 'stdio', command: 'files', env: { [name]: value } } };
    const settings = settingsSchema.parse({ mcp: { servers } });
    expect(secretValues(settings).includes(value)).toBe(isHidden);
    expect(JSON.stringify(redactedTree(settings))).not.toContain(value);
  });
});
