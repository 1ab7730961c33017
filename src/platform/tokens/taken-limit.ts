/** How much of a limit is used, for operators. */
export interface TakenLimit {
  /** The name of the API token; null for all of them together. */
  readonly holder: string | null;
  /** What is counted, as in "5 of 5 webhooks". */
  readonly what: string;
  readonly taken: number;
  /** 0 is no limit. */
  readonly limit: number;
  /** How to get more room: a sentence. */
  readonly advice: string;
}
