/** What a turn can be, as it is stored. The last four are final (docs/glossary.md, Turn). */
export const TURN_STATUSES = [
  'waiting',
  'running',
  'awaiting_approval',
  'completed',
  'failed',
  'interrupted',
  'cancelled',
] as const;

export type TurnStatus = (typeof TURN_STATUSES)[number];
