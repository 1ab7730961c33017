/** What one slot of load asks of one server. */
export interface LoadPlan {
  readonly port: number;
  /** Connections; each sends its next request when the answer to the last has come. */
  readonly clients: number;
  readonly durationMs: number;
  readonly method: 'GET' | 'POST';
  /** Asked in turn over all clients; with `ownPaths` client n asks for every path whose index is n modulo the clients. */
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
  /** Answers other than 2xx; the first one is shown. */
  readonly errors: number;
  readonly firstError?: string;
}
