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
});
