import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';
import type { Statement } from '../database/sql.js';
import { Readiness } from '../lifecycle/readiness.js';

const PING: Statement = { name: 'status.ping', text: 'SELECT 1 AS one' };
const FRESH_MS = 250;
const PATIENCE_MS = 2000;

/** Whether this replica should get requests: started, not draining, and the database answers. */
@Injectable()
export class ReadinessCheck {
  private lastAsked = Number.NEGATIVE_INFINITY;
  private last: Promise<string | undefined> = Promise.resolve(undefined);

  constructor(
    private readonly readiness: Readiness,
    private readonly database: Database,
  ) {}

  async isReady(): Promise<boolean> {
    return (await this.problem()) === undefined;
  }

  /** What keeps this replica from being ready, in words; undefined when nothing does. */
  async problem(): Promise<string | undefined> {
    if (this.readiness.isDraining) return 'the gateway is shutting down';
    if (!this.readiness.isReady) return 'the gateway is starting';
    return this.databaseProblem();
  }

  /** Many probes in a moment are one question to the database. */
  private databaseProblem(): Promise<string | undefined> {
    if (performance.now() - this.lastAsked > FRESH_MS) {
      this.lastAsked = performance.now();
      this.last = this.ask();
    }
    return this.last;
  }

  private async ask(): Promise<string | undefined> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<string>((resolve) => {
      timer = setTimeout(() => resolve(`the database did not answer within ${PATIENCE_MS} ms`), PATIENCE_MS);
    });
    try {
      return await Promise.race([this.database.query(PING).then(() => undefined), late]);
    } catch {
      return 'the database cannot be reached';
    } finally {
      clearTimeout(timer);
    }
  }
}
