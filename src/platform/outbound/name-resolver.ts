import { lookup } from 'node:dns/promises';
import { Injectable } from '@nestjs/common';
import { Slots } from '../runtime/slots.js';

/** Finds the addresses of a name. */
export abstract class NameResolver {
  /** Every address of the name, best first. Throws the resolver's own error, with its `code`. */
  abstract addressesOf(name: string): Promise<readonly string[]>;
}

interface Known {
  answer: Promise<readonly string[]>;
  /** By the clock of `performance`; infinite while the look-up is under way. */
  until: number;
  wasFound: boolean;
}

const FOUND_MS = 5000;
const NOT_FOUND_MS = 2000;
const MAX_NAMES = 2000;

/**
 * Resolves names as the system does: hosts file, search domains and DNS. A look-up that hangs occupies one of the
 * process's four threads, so each name is looked up once at a time, and the result is kept for seconds. Names that were
 * not found the last time share one thread, and names that were never looked up share another: a name that is known to
 * resolve waits for neither, and a new name does not wait for those that fail.
 */
@Injectable()
export class SystemNameResolver extends NameResolver {
  private readonly names = new Map<string, Known>();
  private readonly unseen = new Slots(1);
  private readonly failing = new Slots(1);
  /** The system's look-up; tests replace it. */
  ask = async (name: string): Promise<readonly string[]> =>
    (await lookup(name, { all: true })).map(({ address }) => address);

  addressesOf(name: string): Promise<readonly string[]> {
    const known = this.names.get(name);
    if (known !== undefined && performance.now() < known.until) return known.answer;
    return this.askAgain(name, known).answer;
  }

  private askAgain(name: string, before: Known | undefined): Known {
    const wasFound = before?.wasFound === true;
    const question = () => this.ask(name);
    const slots = before === undefined ? this.unseen : this.failing;
    const answer = wasFound ? question() : slots.run(question);
    const known: Known = { answer, until: Number.POSITIVE_INFINITY, wasFound };
    answer.then(
      () => remember(known, true, FOUND_MS),
      () => remember(known, false, NOT_FOUND_MS),
    );
    this.names.delete(name);
    this.names.set(name, known);
    this.forgetOldest();
    return known;
  }

  private forgetOldest(): void {
    const [oldest] = this.names.keys();
    if (this.names.size > MAX_NAMES && oldest !== undefined) this.names.delete(oldest);
  }
}

function remember(known: Known, wasFound: boolean, forMs: number): void {
  known.wasFound = wasFound;
  known.until = performance.now() + forMs;
}
