import type { StartRequest } from './cli/serve/served-gateway.js';
import { type OpenAddress, openAddress } from './platform/database/open-address.js';
import { ReplicaId } from './platform/lifecycle/replica-id.js';

/** The first part of a start: it runs while the code of the gateway is loaded. */
export interface EarlyStart {
  readonly replica: ReplicaId;
  readonly server: Promise<OpenAddress>;
  /** Resolves when the database server works by itself, or needs no work: this process is free meanwhile. */
  readonly launched: Promise<void>;
}

/** Names the replica and starts the embedded server. The caller closes `server` when the start fails. */
export function beginStart({ loaded, logs }: StartRequest): EarlyStart {
  const replica = new ReplicaId();
  logs.nameReplica?.(replica.value);
  let launch = (): void => undefined;
  const launching = new Promise<void>((resolve) => (launch = resolve));
  const server = openAddress(loaded.settings.database, logs, launch);
  // A failure is thrown to the caller that waits for the server.
  const done = server.then(launch, launch);
  return { replica, server, launched: Promise.race([launching, done]) };
}
