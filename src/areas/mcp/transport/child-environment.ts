import type { Environment } from '../../../platform/settings/environment.js';

/** What every child may know of the gateway's own environment; the MCP client's list for this kind of system. */
const INHERITED = ['HOME', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'USER'];

export function childEnvironment(environment: Environment): Readonly<Record<string, string>> {
  const entries = INHERITED.flatMap((name): [string, string][] => {
    const value = environment.lookup(name);
    // A shell function that was exported is a program, not a value.
    return value === undefined || value.startsWith('()') ? [] : [[name, value]];
  });
  return Object.fromEntries(entries);
}
