export const PART_STATUSES = ['ok', 'warning', 'failing'] as const;
export type PartStatus = (typeof PART_STATUSES)[number];

/** How one part of the gateway does, in a sentence, and what to do about it. */
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
