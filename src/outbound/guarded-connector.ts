import type { LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import type { AddressGuard } from './address-guard.js';
import { familyOf } from './address-ranges.js';

const CONNECT_TIMEOUT_MS = 10_000;

/**
 * Opens sockets to addresses that the guard has seen, and to no others: the look-up that is checked is the one that the
 * socket uses, so a name cannot change its mind in between. Literals never reach a look-up and are checked here.
 */
export function guardedConnector(guard: AddressGuard): buildConnector.connector {
  const connect = buildConnector({ timeout: CONNECT_TIMEOUT_MS, lookup: guardedLookup(guard), port: 0 });
  return (options, callback) => {
    try {
      guard.checkLiteral(options.hostname);
    } catch (error) {
      callback(error as Error, null);
      return;
    }
    connect(options, callback);
  };
}

function guardedLookup(guard: AddressGuard): LookupFunction {
  return (hostname, options, callback) => {
    guard.addressesOf(hostname).then(
      (addresses) => {
        const found = addresses.map((address) => ({ address, family: familyOf(address) === 'ipv4' ? 4 : 6 }));
        const [first] = found;
        // Node takes it for granted that an answer has an address.
        if (first === undefined) callback(noAddress(), []);
        // It asks for all addresses when it may try them in turn, else for one.
        else if (options.all === true) callback(null, found);
        else callback(null, first.address, first.family);
      },
      (error: unknown) => callback(error as NodeJS.ErrnoException, []),
    );
  };
}

function noAddress(): NodeJS.ErrnoException {
  return Object.assign(new Error('The name has no address.'), { code: 'ENOTFOUND' });
}
