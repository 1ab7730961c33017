import { type GatewaySettings, settingsSchema } from '../../../platform/settings/settings.schema.js';
import type { ModelOptions } from '../model-provider.port.js';
import { providerChecks } from '../provider-setting.js';
import { type ProviderChoice, refusedByChoice } from './provider-choice.js';

const claude: ProviderChoice = {
  kind: 'anthropic',
  apiKey: 'k',
  baseUrl: 'https://api.anthropic.com',
  model: '',
  why: '',
};
const openAi = (wire: 'chat' | 'responses', baseUrl = 'https://api.openai.com/v1'): ProviderChoice => ({
  ...claude,
  kind: 'openai',
  baseUrl,
  wire,
});
const sampled = (sampling: ModelOptions['sampling']) => ({ sampling: sampling ?? {} });

describe('an option that a model does not support is refused by name', () => {
  it.each<[string, ProviderChoice, string, Omit<ModelOptions, 'model'>, string[]]>([
    ['all that is left open', claude, 'claude-sonnet-5-5', { reasoning: 'auto' }, []],
    ['none where it always thinks', claude, 'claude-opus-5-5', { reasoning: 'none' }, ['reasoning']],
    ['none where there is another word for it', claude, 'claude-sonnet-5-5', { reasoning: 'none' }, []],
    ['an effort where there is none', claude, 'claude-haiku-4-5', { reasoning: 'low' }, ['reasoning']],
    ['a temperature', claude, 'claude-opus-4-8', sampled({ temperature: 0 }), ['temperature']],
    ['a share', claude, 'claude-sonnet-5', sampled({ topP: 0.5 }), ['top_p']],
    ['a temperature of an older one', claude, 'claude-haiku-4-5', sampled({ temperature: 1 }), []],
    ['one that is too high', claude, 'claude-haiku-4-5', sampled({ temperature: 1.5 }), ['temperature']],
    ['both at once', claude, 'claude-haiku-4-5', sampled({ temperature: 0, topP: 0.5 }), ['top_p']],
    [
      'a call that has to be',
      claude,
      'claude-sonnet-5-5',
      sampled({ toolChoice: 'required' }),
      ['tool_choice'],
    ],
    [
      'a tool while it thinks',
      claude,
      'claude-opus-5',
      sampled({ toolChoice: { name: 'f' } }),
      ['tool_choice'],
    ],
    ['a tool otherwise', claude, 'claude-opus-4-8', sampled({ toolChoice: { name: 'f' } }), []],
    [
      'anything of a model nobody knows',
      claude,
      'mine',
      { reasoning: 'low', ...sampled({ stop: ['x'] }) },
      [],
    ],
    ['blanks that end it', claude, 'claude-haiku-4-5', sampled({ stop: ['END', '\n'] }), ['stop']],
    ['blanks that end it, elsewhere', claude, 'mine', sampled({ stop: ['\n'] }), []],
    ['all that is left open', openAi('responses'), 'gpt-5.6-terra', { reasoning: 'auto' }, []],
    ['a temperature', openAi('responses'), 'gpt-5.6', sampled({ temperature: 0 }), ['temperature']],
    [
      'one without reasoning',
      openAi('responses'),
      'gpt-5.6',
      { reasoning: 'none', ...sampled({ temperature: 0 }) },
      [],
    ],
    ['a share', openAi('chat'), 'o3', sampled({ topP: 0.5 }), ['top_p']],
    ['minimal where there is none', openAi('responses'), 'gpt-5.1', { reasoning: 'minimal' }, ['reasoning']],
    ['none where there is minimal', openAi('responses'), 'gpt-5-mini', { reasoning: 'none' }, ['reasoning']],
    ['an effort where there is none', openAi('responses'), 'gpt-4.1', { reasoning: 'high' }, ['reasoning']],
    ['words that end it', openAi('responses'), 'gpt-4.1', sampled({ stop: ['x'] }), ['stop']],
    ['words that end it', openAi('chat'), 'gpt-4.1', sampled({ stop: ['x'] }), []],
    ['words that end it', openAi('chat'), 'gpt-5', sampled({ stop: ['x'] }), ['stop']],
    ['tools beside reasoning', openAi('chat'), 'gpt-5.6', { reasoning: 'auto' }, ['reasoning']],
    ['tools without reasoning', openAi('chat'), 'gpt-5.6', { reasoning: 'none' }, []],
    ['the same elsewhere', openAi('chat', 'http://127.0.0.1/v1'), 'gpt-5.6', { reasoning: 'auto' }, []],
    ['anything of a model nobody knows', openAi('chat'), 'mine', { reasoning: 'low' }, []],
  ])('%s', (_, choice, model, options, names) => {
    const refused = refusedByChoice(choice, { model, ...options });
    expect(refused.map((sentence) => sentence.split(':')[0])).toEqual(names);
    for (const sentence of refused) expect(sentence).toMatch(/^\w+: .{15,}[^.]$/);
  });

  it('settings that do not fit their model are refused with that sentence', () => {
    const keys = { anthropic: 'key-a', openai: undefined };
    const problem = (reasoning: GatewaySettings['agent']['reasoning'], model: string) =>
      providerChecks(keys).flatMap(
        (check) => check.problem(settingsSchema.parse({ agent: { reasoning }, provider: { model } })) ?? [],
      )[0];
    expect(problem('none', 'claude-opus-5-5')).toBe(
      'agent.reasoning: claude-opus-5-5 always thinks, so it cannot be none.',
    );
    expect(problem('low', 'claude-opus-5-5')).toBeUndefined();
  });

  it('an answer that leaves no room for the question does not fit', () => {
    const keys = { anthropic: undefined, openai: undefined };
    const problems = (settings: object) =>
      providerChecks(keys).flatMap((check) => check.problem(settingsSchema.parse(settings)) ?? []);
    expect(problems({ agent: { context_tokens: 4096, max_output_tokens: 4096 } })).toEqual([
      'agent.max_output_tokens: must be less than agent.context_tokens, which is 4096.',
    ]);
    expect(problems({ agents: { wordy: { max_output_tokens: 900_000 } } })).toEqual([
      'agents.wordy.max_output_tokens: must be less than agent.context_tokens, which is 100000.',
    ]);
    expect(problems({ agent: { context_tokens: 4097, max_output_tokens: 4096 } })).toEqual([]);
  });
});
