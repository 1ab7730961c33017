import { type Environment, variableOf, wellKnownVariables } from './environment.js';
import { nearestMatch } from './nearest-key.js';
import { leafNodes } from './settings-tree.js';

const prefix = 'GATEWAY_';

/**
 * Warnings about variables that look like ours but are not read: `GATEWAY_CONFG`, `GATEWAY_LOGGING__LEVEL`,
 * `GATEWAY_AGENT_MAX_TURNS`. They are not errors: Kubernetes sets `GATEWAY_PORT` and the like for a Service `gateway`.
 */
export function environmentHints(environment: Environment): readonly string[] {
  return environment.names.filter(isForeign).flatMap((name) => {
    const meant = settingMeant(name);
    if (meant !== undefined) return `${name} is not read; the variable of this setting is ${meant}`;
    if (name.includes('__')) return `${name} is not read: the variable of a setting starts with GATEWAY__`;
    const nearest = nearestMatch(withoutPrefix(name), wellKnownVariables.map(withoutPrefix));
    return nearest === undefined ? [] : `${name} is not read; the nearest is ${prefix}${nearest}`;
  });
}

/** The variable of the setting whose name differs only in underscores; undefined when there is none. */
function settingMeant(name: string): string | undefined {
  const key = leafNodes().find(({ path }) => withSingles(variableOf(path)) === withSingles(name));
  return key && variableOf(key.path);
}

function withSingles(name: string): string {
  return name.replaceAll(/_+/g, '_');
}

function isForeign(name: string): boolean {
  return /^GATEWAY_[^_]/.test(name) && !wellKnownVariables.includes(name);
}

function withoutPrefix(name: string): string {
  return name.slice(prefix.length);
}
