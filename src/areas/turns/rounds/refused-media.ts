import { ProviderFailed } from '../../../common/errors/gateway-error.js';
import { type ContentPart, isTextType, type ModelMessage } from '../../models/models.api.js';
import { isMedia, mediaReplaced } from '../prompt/media-window.js';

interface Attempt<Request, Round> {
  /** Anything that is the turn's own. */
  readonly turn: object;
  readonly model: string;
  readonly ask: (request: Request) => Promise<Round>;
  /** Called with the reason when the model is asked without them, unless it must not be asked again. */
  readonly mayGoWithout: (error: unknown) => boolean;
}

/**
 * A provider may reject a request because of what it shows: a broken picture, one that is too large, a model that
 * cannot see. With such a message in its history the conversation could not continue. So the request is made once more
 * without pictures and binary files; when that one is accepted, all later requests of the turn go without them too.
 */
export class RefusedMedia {
  private readonly blind = new WeakMap<object, Set<string>>();

  /** Whether the turn's calls of this model go without pictures and files. */
  isBlind(turn: object, model: string): boolean {
    return this.blind.get(turn)?.has(model) === true;
  }

  async ask<Request extends { readonly messages: readonly ModelMessage[] }, Round>(
    request: Request,
    { turn, model, ask, mayGoWithout }: Attempt<Request, Round>,
  ): Promise<Round> {
    const blind = this.blind.get(turn);
    const bare = (): Request | undefined => {
      const messages = withoutMedia(request.messages);
      return messages && { ...request, messages };
    };
    if (blind?.has(model) === true) return ask(bare() ?? request);
    try {
      return await ask(request);
    } catch (error) {
      const without = isRejected(error) ? bare() : undefined;
      if (without === undefined || !mayGoWithout(error)) throw error;
      const round = await ask(without);
      this.blind.set(turn, (this.blind.get(turn) ?? new Set()).add(model));
      return round;
    }
  }
}

function isRejected(error: unknown): boolean {
  return error instanceof ProviderFailed && error.details?.reason === 'provider_rejected_request';
}

/** Undefined when there are none. */
function withoutMedia(messages: readonly ModelMessage[]): readonly ModelMessage[] | undefined {
  let replaced = 0;
  const bare = mediaReplaced(messages, (part) => {
    if (!isMedia(part) || (part.type === 'file' && isTextType(part.mimeType))) return part;
    replaced += 1;
    return refusedNote(part);
  });
  return replaced === 0 ? undefined : bare;
}

function refusedNote(part: Exclude<ContentPart, { type: 'text' }>): ContentPart {
  const name = part.type === 'file' ? part.name : 'picture';
  const text = `[attachment ${name} (${part.mimeType}) is left out, because the provider of this model rejected the request with it]`;
  return { type: 'text', text };
}
