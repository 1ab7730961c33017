/** The requests of one slot to one server. */
export interface LoadPlan {
  readonly port: number;
  /** Number of connections. Each sends its next request when the last response is complete. */
  readonly clients: number;
  readonly durationMs: number;
  readonly method: 'GET' | 'POST';
  /**
   * Requested in turn by all clients; with `ownPaths` client n requests the paths whose index is n modulo the number
   * of clients.
   */
  readonly paths: readonly string[];
  readonly ownPaths?: boolean;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface LoadResult {
  readonly requests: number;
  readonly seconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Number of responses other than 2xx, and the first one. */
  readonly errors: number;
  readonly firstError?: string;
}
