import type { LookupFunction, Socket } from 'node:net';
import { Agent, buildConnector, type Dispatcher } from 'undici';
import type { AddressGuard } from './address-guard.js';
import { familyOf } from './address-ranges.js';
import type { CompanyProxy, WayOut } from './egress.js';
import { type OutboundFailed, type OutboundRefused, outboundError } from './outbound.errors.js';
import { openTunnel } from './tunnel.js';

const CONNECT_TIMEOUT_MS = 10_000;

/**
 * Opens sockets only to addresses that the guard has checked. The socket uses the result of the very look-up that was
 * checked, so a name cannot resolve to something else in between. Literal addresses need no look-up and are checked
 * here. The same holds through a proxy: it is asked for the address that was checked, except for the names of
 * `outbound.proxy_hosts`, which only the proxy can resolve.
 * @param ownHosts hosts that the operator named for these calls, which may be private
 */
export function guardedConnector(
  guard: AddressGuard,
  egress: WayOut,
  ownHosts?: ReadonlySet<string>,
): buildConnector.connector {
  const { secureContext } = egress;
  const connect = buildConnector({
    timeout: CONNECT_TIMEOUT_MS,
    lookup: guardedLookup(guard, ownHosts),
    port: 0,
    ...(secureContext === undefined ? {} : { secureContext }),
  });
  return (options, callback) => {
    try {
      guard.checkLiteral(options.hostname, ownHosts);
    } catch (error) {
      callback(error as Error, null);
      return;
    }
    const port = Number(options.port) || (options.protocol === 'https:' ? 443 : 80);
    const proxy = egress.proxyFor({ protocol: options.protocol, hostname: options.hostname, port });
    if (proxy === undefined) {
      connect(options, callback);
      return;
    }
    guardedTunnel(guard, egress, { proxy, hostname: options.hostname, port, ownHosts }).then(
      (socket) =>
        options.protocol === 'https:'
          ? connect({ ...options, httpSocket: socket }, callback)
          : callback(null, socket.setNoDelay(true)),
      (error: unknown) => callback(error as Error, null),
    );
  };
}

interface TunnelTarget {
  readonly proxy: CompanyProxy;
  readonly hostname: string;
  readonly port: number;
  readonly ownHosts: ReadonlySet<string> | undefined;
}

async function guardedTunnel(
  guard: AddressGuard,
  { secureContext }: WayOut,
  { proxy, hostname, port, ownHosts }: TunnelTarget,
): Promise<Socket> {
  const host = guard.isProxyName(hostname) ? hostname : (await guard.addressesOf(hostname, ownHosts))[0];
  if (host === undefined) throw noAddress();
  return openTunnel({ proxy, host, port, timeoutMs: CONNECT_TIMEOUT_MS, secureContext });
}

function guardedLookup(guard: AddressGuard, ownHosts: ReadonlySet<string> | undefined): LookupFunction {
  return (hostname, options, callback) => {
    guard.addressesOf(hostname, ownHosts).then(
      (addresses) => {
        const found = addresses.map((address) => ({ address, family: familyOf(address) === 'ipv4' ? 4 : 6 }));
        const [first] = found;
        // Node assumes that an answer has an address.
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

/**
 * The dispatcher for one WebSocket of a library. The URL comes from outside, so the guard checks it. A WebSocket
 * removes its connection from the agent, so the dispatcher keeps the socket, to be able to cut a dead one.
 */
export class GuardedSockets {
  readonly dispatcher: Dispatcher;
  private readonly open = new Set<Socket>();
  private readonly connector: buildConnector.connector;
  private isCut = false;
  private problem: OutboundRefused | OutboundFailed | undefined;

  constructor(
    private readonly guard: AddressGuard,
    egress: WayOut,
  ) {
    this.connector = guardedConnector(guard, egress);
    this.dispatcher = new Agent({
      allowH2: false,
      connect: (options, callback) => this.connect(options, callback),
    });
  }

  /** Why nothing could be opened; a WebSocket does not report that. */
  get failure(): OutboundRefused | OutboundFailed | undefined {
    return this.problem;
  }

  /** Cuts what is open and opens nothing more, whatever the other side does. */
  async cut(): Promise<void> {
    this.isCut = true;
    for (const socket of this.open) socket.destroy();
    await this.dispatcher.destroy();
  }

  private connect(options: buildConnector.Options, callback: buildConnector.Callback): void {
    try {
      this.guard.checkUrl(`${options.protocol}//${options.host ?? options.hostname}`);
    } catch (error) {
      this.fail(error, callback);
      return;
    }
    this.connector(options, (...[error, socket]) => {
      if (error !== null) {
        this.fail(error, callback);
        return;
      }
      this.open.add(socket);
      socket.once('close', () => this.open.delete(socket));
      if (this.isCut) socket.destroy();
      callback(null, socket);
    });
  }

  private fail(error: unknown, callback: buildConnector.Callback): void {
    this.problem = outboundError(error);
    callback(this.problem, null);
  }
}
