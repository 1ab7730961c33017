import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

/** A port that is free now, for servers that cannot choose one themselves. */
export async function freePort(): Promise<number> {
  const holder = createServer().listen(0, '127.0.0.1');
  await once(holder, 'listening');
  const { port } = holder.address() as AddressInfo;
  await new Promise((done) => holder.close(done));
  return port;
}
