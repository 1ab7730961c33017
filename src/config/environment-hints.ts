import { type Environment, wellKnownVariables } from './environment.js';
import { nearestWord } from './nearest-key.js';

const prefix = 'GATEWAY_';

/**
 * Warnings about variables that look like ours and are not read: `GATEWAY_CONFG`, `GATEWAY_LOGGING__LEVEL`.
 * They are no errors, since Kubernetes sets `GATEWAY_PORT` and the like for a Service named `gateway`.
 */
export function environmentHints(environment: Environment): readonly string[] {
  return environment.names.filter(isForeign).flatMap((name) => {
    if (name.includes('__')) return `${name} is not read: the variable of a setting begins with GATEWAY__`;
    const nearest = nearestWord(withoutPrefix(name), wellKnownVariables.map(withoutPrefix));
    return nearest === undefined ? [] : `${name} is not read; the nearest is ${prefix}${nearest}`;
  });
}

function isForeign(name: string): boolean {
  return /^GATEWAY_[^_]/.test(name) && !wellKnownVariables.includes(name);
}

function withoutPrefix(name: string): string {
  return name.slice(prefix.length);
}
