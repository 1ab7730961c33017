const MAX_MS = 300_000;

/**
 * How long one server may take to start. After a timeout the next attempt gets twice the time: the server may be fetching
 * a package, and would never finish if every attempt were ended at the same moment.
 */
export class StartTimeout {
  private current: number;

  /** @param configuredMs `startup_timeout_ms` of the server */
  constructor(
    private readonly server: string,
    private readonly configuredMs: number,
  ) {
    this.current = configuredMs;
  }

  /** Of the next attempt, in milliseconds: at most five minutes, or the configured time if that is longer. */
  get limitMs(): number {
    return this.current;
  }

  wasReady(): void {
    this.current = this.configuredMs;
  }

  /** @returns what to report about the attempt that timed out */
  wasLate(): Error {
    const tookMs = this.current;
    this.current = Math.max(this.configuredMs, Math.min(tookMs * 2, MAX_MS));
    return new Error(
      `it was not ready within ${tookMs} ms; the next attempt may take ${this.current} ms ` +
        `(mcp.servers.${this.server}.startup_timeout_ms sets the first)`,
    );
  }
}
