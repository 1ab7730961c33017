import { ProviderFailed } from '../../common/errors/gateway-error.js';
import { type ContentPart, isTextType, type ModelMessage } from '../models/models.api.js';
import { isMedia, mediaReplaced } from './media-window.js';

/**
 * The messages without pictures and binary files, when those may be why a provider rejected a request: a broken picture, one
 * that is too large, a model that sees none. In a history they would end the conversation for good. Undefined when there are none.
 */
export function withoutRefusedMedia(
  messages: readonly ModelMessage[],
  error: unknown,
): readonly ModelMessage[] | undefined {
  if (!(error instanceof ProviderFailed) || error.details?.reason !== 'provider_rejected_request')
    return undefined;
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
  const text = `[attachment ${name} (${part.mimeType}) is left out, because the provider of this model refused it]`;
  return { type: 'text', text };
}
