import type { ModelMessage, ModelName } from '../../models/models.api.js';

/** What a provider wants echoed is sent back only to that provider: another one of the same kind could not read it. */
export function ownStates(
  messages: readonly ModelMessage[],
  { provider }: ModelName,
): readonly ModelMessage[] {
  const isForeign = (message: ModelMessage): boolean =>
    message.role === 'assistant' &&
    message.providerState !== undefined &&
    makerOf(message.providerState) !== provider;
  if (!messages.some(isForeign)) return messages;
  return messages.map((message) => {
    if (message.role !== 'assistant' || !isForeign(message)) return message;
    const { providerState: _of, ...rest } = message;
    return rest;
  });
}

interface SignedState {
  /** The provider's name in the settings; absent is `default`. */
  readonly provider?: string;
}

function makerOf(state: unknown): string {
  return (state as SignedState | null)?.provider ?? 'default';
}

/** Records whose state it is. */
export function signedState(state: unknown, { provider }: ModelName): unknown {
  if (provider === 'default' || typeof state !== 'object' || state === null) return state;
  return { ...state, provider };
}
