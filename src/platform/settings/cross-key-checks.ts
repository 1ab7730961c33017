import type { GatewaySettings } from './settings.schema.js';

/**
 * A rule over several keys: the keys it reads, and what is wrong, if anything. The blame falls on the first of the keys
 * that the latest layer sets.
 */
export interface CrossKeyCheck {
  readonly keys: readonly [string, ...string[]];
  readonly problem: (settings: GatewaySettings) => string | undefined;
}

const ports = ['port', 'profile_a_port', 'management_port'] as const;

export const crossKeyChecks: readonly CrossKeyCheck[] = [
  samePort('profile_a_port', 'port'),
  samePort('management_port', 'port'),
  samePort('management_port', 'profile_a_port'),
];

function samePort(one: (typeof ports)[number], other: (typeof ports)[number]): CrossKeyCheck {
  return {
    keys: [`gateway.${one}`, `gateway.${other}`],
    problem: ({ gateway }) =>
      gateway[one] !== 0 && gateway[one] === gateway[other] ? `must differ from gateway.${other}` : undefined,
  };
}
