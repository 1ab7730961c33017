/** A media type in lower case, without parameters: `image/png`. */
export const MEDIA_TYPE = /^[a-z]+\/[a-z0-9.+-]{1,100}$/;

const KINDS = ['image', 'audio', 'video'] as const;

/** What a person would call it; undefined for any other file. */
export function mediaKind(mimeType: string): (typeof KINDS)[number] | undefined {
  return KINDS.find((kind) => mimeType.startsWith(`${kind}/`));
}
