import { BlockList, isIP } from 'node:net';
import type { GatewaySettings } from '../../../platform/settings/settings.schema.js';

const REMEDIES =
  'install bubblewrap and allow user namespaces, or accept it with backend = "none" under [security.sandbox]';

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** The sandbox does not work on this machine, and this gateway may not run stdio servers without one. */
export class SandboxMissing extends Error {
  override readonly name = 'SandboxMissing';
}

/**
 * Decides about stdio servers where the sandbox does not work: a gateway with its embedded database on loopback addresses
 * counts as a trial and runs them; any other refuses them (docs/mcp.md, The sandbox).
 * @returns why they are refused; undefined when they run
 */
export function refusalWithout(problem: string, settings: GatewaySettings): SandboxMissing | undefined {
  const { gateway, database } = settings;
  const hosts = [gateway.host, gateway.management_host].filter((host) => host !== '');
  const elsewhere = hosts.find((host) => !isLoopback(host));
  if (database.url === '' && elsewhere === undefined) return undefined;
  const cause = database.url === '' ? `it listens at ${elsewhere}` : 'it has a database of its own';
  return new SandboxMissing(
    `This gateway does not start stdio servers without a sandbox (${cause}): ${REMEDIES}. Problem here: ${problem}`,
  );
}

/** The warning where they run all the same. */
export function warningWithout(problem: string): string {
  return `stdio servers run without a sandbox, with all rights of the gateway: ${REMEDIES}. Problem here: ${problem}`;
}

function isLoopback(host: string): boolean {
  if (host === 'localhost') return true;
  const family = isIP(host);
  return family !== 0 && loopback.check(host, family === 4 ? 'ipv4' : 'ipv6');
}
