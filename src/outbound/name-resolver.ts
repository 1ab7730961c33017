import { lookup } from 'node:dns/promises';
import { Injectable } from '@nestjs/common';

/** Finds the addresses of a name. */
export abstract class NameResolver {
  /** Every address of the name, best first. Throws the resolver's own error, with its `code`. */
  abstract addressesOf(name: string): Promise<readonly string[]>;
}

/** Asks as the system does: hosts file, search domains and DNS. */
@Injectable()
export class SystemNameResolver extends NameResolver {
  async addressesOf(name: string): Promise<readonly string[]> {
    return (await lookup(name, { all: true })).map(({ address }) => address);
  }
}
