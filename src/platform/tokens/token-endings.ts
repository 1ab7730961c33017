import { Injectable } from '@nestjs/common';
import type { SqlRunner } from '../database/sql.js';

/** Something that tokens make and that ends with them, such as their webhooks. */
export interface TokenEnding {
  /**
   * Ends what a family of tokens made, in the transaction that revokes the last of them. Whoever makes such a thing holds
   * the token meanwhile (`holdToken`), so that nothing is made behind the back of this.
   */
  end(runner: SqlRunner, familyId: string): Promise<void>;
}

/** All that ends with a token; areas add theirs at the start. */
@Injectable()
export class TokenEndings implements TokenEnding {
  private readonly endings: TokenEnding[] = [];

  /** The same where there is no container, as at the command line. */
  static of(...endings: readonly TokenEnding[]): TokenEndings {
    const all = new TokenEndings();
    for (const ending of endings) all.add(ending);
    return all;
  }

  add(ending: TokenEnding): void {
    this.endings.push(ending);
  }

  async end(runner: SqlRunner, familyId: string): Promise<void> {
    for (const ending of this.endings) await ending.end(runner, familyId);
  }
}
