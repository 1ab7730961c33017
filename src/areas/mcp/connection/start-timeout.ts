const MAX_MS = 300_000;

/**
 * How long one server may take to start. One that was too slow is given twice the time at the next attempt: it may be
 * fetching a package, and would never be done if it were ended every time at the same moment.
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

  /** For the next attempt, in milliseconds: at most five minutes, or what is configured when that is more. */
  get limitMs(): number {
    return this.current;
  }

  wasReady(): void {
    this.current = this.configuredMs;
  }

  /** @returns what to tell people of the attempt that was too slow */
  wasLate(): Error {
    const tookMs = this.current;
    this.current = Math.max(this.configuredMs, Math.min(tookMs * 2, MAX_MS));
    return new Error(
      `it was not ready within ${tookMs} ms; the next attempt may take ${this.current} ms ` +
        `(mcp.servers.${this.server}.startup_timeout_ms sets the first)`,
    );
  }
}
