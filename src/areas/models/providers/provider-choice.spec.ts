import { type GatewaySettings, settingsSchema } from '../../../platform/settings/settings.schema.js';
import { createProvider } from './create-provider.js';
import { chooseProvider, providerSecrets } from './provider-choice.js';

const none = { anthropic: undefined, openai: undefined };
const both = { anthropic: 'key-a', openai: 'key-o' };

function settings(given: Partial<GatewaySettings['provider']> = {}): GatewaySettings['provider'] {
  return { ...settingsSchema.parse({}).provider, ...given };
}

describe('the choice of a provider', () => {
  it.each([
    ['the configured kind, before any key', settings({ kind: 'openai' }), both, 'openai', 'key-o'],
    [
      'the configured key, before the environment’s',
      settings({ kind: 'openai', api_key: 'k' }),
      both,
      'openai',
      'k',
    ],
    ['offline when it is configured, whatever the keys', settings({ kind: 'offline' }), both, 'offline', ''],
    ['anthropic when both keys are set', settings(), both, 'anthropic', 'key-a'],
    ['openai when only its key is set', settings(), { ...none, openai: ' key-o\n' }, 'openai', 'key-o'],
    ['openai when the other key is blank', settings(), { ...both, anthropic: ' ' }, 'openai', 'key-o'],
    ['offline when nothing is set', settings(), none, 'offline', ''],
  ])('is %s', (_, given, keys, kind, apiKey) => {
    expect(chooseProvider(given, keys)).toMatchObject({ kind, apiKey });
  });

  it('has the official address and a model of its kind, unless others are given', () => {
    expect(chooseProvider(settings({ kind: 'anthropic' }), both)).toEqual({
      name: 'default',
      keySource: 'ANTHROPIC_API_KEY or provider.api_key',
      kind: 'anthropic',
      apiKey: 'key-a',
      baseUrl: 'https://api.anthropic.com',
      model: 'claude-sonnet-5-5',
      why: 'provider.kind is anthropic',
    });
    const given = settings({ kind: 'openai', base_url: 'http://127.0.0.1:11434/v1/', model: 'llama' });
    expect(chooseProvider(given, none)).toMatchObject({
      apiKey: '',
      baseUrl: 'http://127.0.0.1:11434/v1',
      model: 'llama',
    });
  });

  it('gives its reason', () => {
    expect(chooseProvider(settings(), both).why).toBe('ANTHROPIC_API_KEY is set');
    expect(chooseProvider(settings(), none).why).toContain('neither ANTHROPIC_API_KEY nor OPENAI_API_KEY');
  });

  it.each([
    ['anthropic without a key', settings({ kind: 'anthropic' }), /ANTHROPIC_API_KEY or provider\.api_key/],
    ['openai without a key', settings({ kind: 'openai' }), /OPENAI_API_KEY or provider\.api_key/],
    ['a key for nobody', settings({ api_key: 'hush-1' }), /provider\.api_key is set: set provider\.kind/],
    ['an address for nobody', settings({ base_url: 'http://hush-2' }), /provider\.base_url is set/],
    ['no address', settings({ kind: 'openai', base_url: 'hush-3' }), /provider\.base_url is not/],
    ['a file', settings({ kind: 'openai', base_url: 'file:///hush-4' }), /provider\.base_url is not/],
    ['a password', settings({ kind: 'openai', base_url: 'http://a:hush-5@b' }), /must hold no credentials/],
    ['a query', settings({ kind: 'openai', base_url: 'http://b/?key=hush-6' }), /must hold no credentials/],
    ['a broken key', settings({ kind: 'openai', api_key: 'hush\n7' }), /has characters that no key has/],
  ])('is refused for %s, without showing a value', (_, given, message) => {
    const choose = () => chooseProvider(given, none);
    expect(choose).toThrow(message);
    expect(choose).not.toThrow(/hush/);
  });

  it('names its secrets for the redactor', () => {
    expect(providerSecrets(chooseProvider(settings(), both))).toEqual(['key-a']);
    expect(providerSecrets(chooseProvider(settings(), none))).toEqual([]);
  });

  it.each(['anthropic', 'openai', 'offline'] as const)(
    '%s becomes the adapter of that name',
    async (kind) => {
      const choice = chooseProvider(settings({ kind, model: kind === 'offline' ? '' : 'mine' }), both);
      const provider = await createProvider(choice);
      expect(provider.name).toBe(kind);
      expect(provider.defaultModel).toBe(kind === 'offline' ? 'offline' : 'mine');
    },
  );
});
