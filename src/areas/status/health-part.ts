export const PART_STATUSES = ['ok', 'warning', 'failing'] as const;
export type PartStatus = (typeof PART_STATUSES)[number];

/** The state of one part of the gateway, in a sentence, and what to do about it. */
export interface HealthPart {
  readonly name: string;
  readonly status: PartStatus;
  readonly detail: string;
  /** Null while it is well. */
  readonly advice: string | null;
}

export function healthPart(
  name: string,
  status: PartStatus,
  detail: string,
  advice: string | null = null,
): HealthPart {
  return { name, status, detail, advice };
}

/** The most names in a sentence. */
export const MOST_NAMES = 5;

/** Names for a sentence: the first few, and a note when there are more. */
export function namesOf(names: readonly string[]): string {
  const more = names.length > MOST_NAMES ? ' and more' : '';
  return `${names.slice(0, MOST_NAMES).join(', ')}${more}`;
}
