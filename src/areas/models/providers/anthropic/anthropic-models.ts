import type { ModelOptions, ReasoningEffort, SamplingOptions } from '../../model-provider.port.js';

/**
 * How a model thinks: `always`, whatever it is told; `default`, unless told otherwise; `optional`, when told to;
 * `never` adaptively. Some may think `between_tools` even when they are told not to.
 */
interface ClaudeTraits {
  readonly thinks: 'always' | 'default' | 'optional' | 'never';
  readonly off: 'disabled' | 'between_tools';
  /** Whether the model accepts temperature and top_p. */
  readonly isSampled: boolean;
  /** Whether a tool call can be forced while the model does not think. */
  readonly canForceTools: boolean;
}

/** For a name that is not Claude's: a compatible server knows best what its model accepts. */
const UNKNOWN: ClaudeTraits = { thinks: 'optional', off: 'disabled', isSampled: true, canForceTools: true };

/** The first match applies. From https://platform.claude.com/docs/en/about-claude/models. */
const TRAITS: readonly (readonly [RegExp, ClaudeTraits])[] = [
  [
    /^claude-(opus-5-5|fable|mythos)/,
    { thinks: 'always', off: 'disabled', isSampled: false, canForceTools: false },
  ],
  [/^claude-sonnet-5-5/, { thinks: 'default', off: 'between_tools', isSampled: false, canForceTools: false }],
  [/^claude-[a-z]+-5/, { thinks: 'default', off: 'disabled', isSampled: false, canForceTools: true }],
  [/^claude-opus-4-[78]/, { thinks: 'optional', off: 'disabled', isSampled: false, canForceTools: true }],
  [/^claude-[a-z]+-4-6/, UNKNOWN],
  [/^claude-/, { thinks: 'never', off: 'disabled', isSampled: true, canForceTools: true }],
];

const EFFORTS = { minimal: 'low', low: 'low', medium: 'medium', high: 'high' } as const;

/** `thinking` and `output_config.effort` of a request. */
export interface Thinking {
  readonly thinking?:
    | { readonly type: 'disabled' | 'between_tools' }
    | { readonly type: 'adaptive'; readonly display?: 'summarized' };
  readonly effort?: 'low' | 'medium' | 'high';
}

/**
 * How a model is told to think. To see its thoughts the request has to ask for a summary: newer models leave them out.
 */
export function claudeThinking(model: string, reasoning: ReasoningEffort, isShown: boolean): Thinking {
  const { thinks, off } = traitsOf(model);
  const adaptive = { type: 'adaptive', ...(isShown && { display: 'summarized' as const }) } as const;
  if (reasoning === 'none') return { thinking: { type: off } };
  if (reasoning !== 'auto') return { thinking: adaptive, effort: EFFORTS[reasoning] };
  const thinksAnyway = thinks === 'always' || thinks === 'default';
  return isShown && thinksAnyway ? { thinking: adaptive } : {};
}

/** Which of these options a Claude model does not accept, a sentence for each. */
export function refusedByClaude({ model, reasoning = 'auto', sampling = {} }: ModelOptions): string[] {
  const traits = traitsOf(model);
  const { thinks } = traits;
  const thinksByItself = thinks === 'always' || thinks === 'default';
  const isThinking = reasoning === 'auto' ? thinksByItself : reasoning !== 'none';
  const refused = [
    when(
      reasoning === 'none' && thinks === 'always',
      `reasoning: ${model} always thinks, so it cannot be none`,
    ),
    when(
      isThinking && thinks === 'never',
      `reasoning: ${model} has no adaptive thinking, so it can only be auto or none`,
    ),
    ...refusedSampling(model, sampling, traits.isSampled, isThinking),
    when(
      model.startsWith('claude-') && sampling.stop?.some((one) => one.trim() === '') === true,
      `stop: ${model} takes no text of blanks alone`,
    ),
    when(
      isForced(sampling.toolChoice) && (isThinking || !traits.canForceTools),
      `tool_choice: ${model} cannot be made to call a tool${traits.canForceTools ? ' while it thinks' : ''}`,
    ),
  ];
  return refused.flat();
}

function refusedSampling(
  model: string,
  { temperature, topP }: SamplingOptions,
  isSampled: boolean,
  isThinking: boolean,
): string[][] {
  const [hasTemperature, hasTopP] = [temperature !== undefined, topP !== undefined];
  if (!isSampled || isThinking) {
    const why = `${model} does not take it${isSampled ? ' while it thinks' : ''}`;
    return [when(hasTemperature, `temperature: ${why}`), when(hasTopP, `top_p: ${why}`)];
  }
  return [
    when((temperature ?? 0) > 1, `temperature: ${model} takes 0 to 1`),
    when(hasTemperature && hasTopP, `top_p: ${model} does not take it beside temperature`),
  ];
}

const when = (holds: boolean, sentence: string): string[] => (holds ? [sentence] : []);

function isForced(choice: NonNullable<ModelOptions['sampling']>['toolChoice']): boolean {
  return choice === 'required' || typeof choice === 'object';
}

function traitsOf(model: string): ClaudeTraits {
  return TRAITS.find(([name]) => name.test(model))?.[1] ?? UNKNOWN;
}
