import type { ModelOptions, ReasoningEffort } from '../../model-provider.port.js';

export type OpenAiWire = 'chat' | 'responses';

/** What one of OpenAI's own models supports. */
interface OpenAiTraits {
  /** Empty for a model that does not reason. */
  readonly efforts: readonly Exclude<ReasoningEffort, 'auto'>[];
}

const SOME = ['low', 'medium', 'high'] as const;
const NO_REASONING: OpenAiTraits = { efforts: [] };

/** The first match applies. From https://platform.openai.com/docs/models. */
const TRAITS: readonly (readonly [RegExp, OpenAiTraits])[] = [
  [/^(gpt-[34]|chatgpt-|gpt-5[^/]*-chat)/, NO_REASONING],
  [/^gpt-5-pro/, { efforts: ['high'] }],
  [/^gpt-[5-9][^/]*-pro/, { efforts: ['medium', 'high'] }],
  [/^(o[134]|gpt-5[^/]*-codex)/, { efforts: SOME }],
  [/^gpt-5(-|$)/, { efforts: ['minimal', ...SOME] }],
  [/^gpt-[5-9]/, { efforts: ['none', ...SOME] }],
];

/** On Chat Completions these refuse tools unless they are told not to reason. */
const REFUSES_TOOLS_ON_CHAT = /^gpt-(5\.[5-9]|[6-9])/;
/** Hosts that serve OpenAI's own models: they refuse what others ignore, and the reverse. */
const OFFICIAL_HOST = /(^|\.)(openai\.com|openai\.azure\.com)$/;

export function isOfficial(baseUrl: string): boolean {
  return OFFICIAL_HOST.test(new URL(baseUrl).hostname);
}

/**
 * `auto` is Responses at OpenAI itself, and Chat Completions for compatible servers, including Azure's older versions.
 */
export function chosenWire(wire: 'auto' | OpenAiWire, baseUrl: string): OpenAiWire {
  if (wire !== 'auto') return wire;
  return new URL(baseUrl).hostname === 'api.openai.com' ? 'responses' : 'chat';
}

/**
 * Whether to ask for the model's reasoning: a model without reasoning refuses the request; an unknown model may have
 * some.
 */
export function mayReason(model: string): boolean {
  return traitsOf(model) !== NO_REASONING;
}

/** The effort as it is sent; undefined leaves it to the provider. */
export function sentEffort(
  model: string,
  reasoning: ReasoningEffort = 'auto',
): Exclude<ReasoningEffort, 'auto'> | undefined {
  return reasoning === 'auto' || (reasoning === 'none' && !mayReason(model)) ? undefined : reasoning;
}

/** Which of these options a model does not support on this wire, a sentence for each. */
export function refusedByOpenAi(options: ModelOptions, wire: OpenAiWire, baseUrl: string): string[] {
  const { model, reasoning = 'auto' } = options;
  const refusesTools = wire === 'chat' && isOfficial(baseUrl) && REFUSES_TOOLS_ON_CHAT.test(model);
  return [
    ...refusedEffort(model, reasoning),
    ...(refusesTools && reasoning !== 'none'
      ? [`reasoning: ${model} takes tools on Chat Completions only with none; set provider.wire to responses`]
      : []),
    ...refusedSampling(options, wire),
  ];
}

/** An unknown model is assumed to support everything: its server knows best. */
function refusedEffort(model: string, reasoning: ReasoningEffort): string[] {
  const efforts = traitsOf(model)?.efforts;
  if (efforts === undefined || reasoning === 'auto' || efforts.includes(reasoning)) return [];
  if (efforts.length > 0) return [`reasoning: ${model} takes auto, ${efforts.join(', ')}`];
  return reasoning === 'none' ? [] : [`reasoning: ${model} does not reason, so it can only be auto or none`];
}

function refusedSampling({ model, reasoning, sampling = {} }: ModelOptions, wire: OpenAiWire): string[] {
  const efforts = traitsOf(model)?.efforts ?? [];
  const reasons = efforts.length > 0;
  const isSampled = !reasons || (reasoning === 'none' && efforts.includes('none'));
  const names = [
    ...(sampling.temperature === undefined ? [] : ['temperature']),
    ...(sampling.topP === undefined ? [] : ['top_p']),
  ];
  const refused = isSampled ? [] : names.map((name) => `${name}: ${model} does not take it while it reasons`);
  if (sampling.stop === undefined) return refused;
  if (wire === 'responses') return [...refused, 'stop: the Responses API does not take it'];
  return reasons ? [...refused, `stop: ${model} does not take it`] : refused;
}

function traitsOf(model: string): OpenAiTraits | undefined {
  const name = model.replace(/^ft:/, '');
  return TRAITS.find(([known]) => known.test(name))?.[1];
}
