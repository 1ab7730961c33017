import type { StartRequest } from './cli/serve/served-gateway.js';
import { type OpenAddress, openAddress } from './platform/database/open-address.js';
import { ReplicaId } from './platform/lifecycle/replica-id.js';

/** What a start begins with: it goes on while the code of the gateway is loaded. */
export interface EarlyStart {
  readonly replica: ReplicaId;
  readonly server: Promise<OpenAddress>;
  /** Resolves when the database server works by itself, or needs no work: this process is free meanwhile. */
  readonly launched: Promise<void>;
}

/** Names the replica and brings the embedded server up. Whoever begins a start closes `server` when it goes no further. */
export function beginStart({ loaded, logs }: StartRequest): EarlyStart {
  const replica = new ReplicaId();
  logs.nameReplica?.(replica.value);
  let launch = (): void => undefined;
  const launching = new Promise<void>((resolve) => (launch = resolve));
  const server = openAddress(loaded.settings.database, logs, launch);
  // A failure is thrown to the one who waits for the server.
  const done = server.then(launch, launch);
  return { replica, server, launched: Promise.race([launching, done]) };
}
