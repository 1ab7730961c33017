import { createServer } from 'node:net';
import type { Logger } from '../logging/logger.js';
import type { SettingsCandidate, StoredOverrides } from './candidate-builder.js';
import { parsePath, readAt } from './dotted-path.js';
import type { GatewaySettings } from './settings.schema.js';
import { nodeAt } from './settings-tree.js';
import { layerThatSets } from './settings-validation.js';

/** A stored host or port that this replica does not use, because its own file or environment sets another one. */
export interface OverruledKey {
  readonly key: string;
  readonly stored: unknown;
  /** What this replica uses. */
  readonly own: unknown;
  /** `gateway.toml:12`, or the name of a variable. */
  readonly where: string;
}

/**
 * The stored overrides of keys marked `perReplica` for which this replica's own file or environment has another value.
 * A stored port is one value for all replicas: if it won, two replicas on one machine would collide.
 */
export function overruledKeys({
  layers,
  overrides,
  stored: { rows },
}: Pick<SettingsCandidate, 'layers' | 'overrides' | 'stored'>): readonly OverruledKey[] {
  return rows.flatMap(({ key }) => {
    const path = parsePath(key) ?? [];
    const stored = readAt(overrides.tree, path);
    if (stored === undefined || nodeAt(path)?.marks.perReplica !== true) return [];
    const layer = layerThatSets(path, layers);
    if (layer === undefined) return [];
    return [{ key, stored, own: readAt(layer.tree, path), where: layer.whereIs(path) }];
  });
}

/** The stored overrides without those for which this replica has its own value. */
export function withoutOverruled(
  stored: StoredOverrides,
  overruled: readonly OverruledKey[],
): StoredOverrides {
  const keys = new Set(overruled.map(({ key }) => key));
  return { ...stored, rows: stored.rows.filter(({ key }) => !keys.has(key)) };
}

/** Warns about each stored value that this replica does not use, unless it has already warned about the same one. */
export function warnOfOverruled(logger: Logger, now: SettingsCandidate, before?: SettingsCandidate): void {
  const known = new Map(
    (before === undefined ? [] : overruledKeys(before)).map(({ key, stored }) => [key, stored]),
  );
  for (const { key, stored, own, where } of overruledKeys(now)) {
    if (known.get(key) === stored) continue;
    logger.warn(
      `the stored ${key} = ${String(stored)} is not used by this replica: ${where} says ${String(own)}, and a ` +
        "replica's own file or environment wins for hosts and ports; remove it there to use the stored value",
      { key, where },
    );
  }
}

/** Whether a listener can bind to an address or a name; whether the port is free does not matter. */
export function canBind(host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(0, host, () => server.close(() => resolve(true)));
  });
}

const HOST_KEYS = ['gateway.host', 'gateway.management_host'] as const;

/**
 * The stored hosts that are not addresses of this machine, with what this replica uses instead. A stored host is one
 * value for all replicas: if each had to bind it, a mistaken one would stop every replica at its next start.
 */
export async function unbindableHosts(
  { settings, overrides }: Pick<SettingsCandidate, 'settings' | 'overrides'>,
  withoutStored: GatewaySettings,
  bindable = canBind,
): Promise<readonly OverruledKey[]> {
  const unbindable: OverruledKey[] = [];
  for (const key of HOST_KEYS) {
    const path = key.split('.');
    const [stored, own] = [readAt(overrides.tree, path), readAt(withoutStored, path)];
    if (typeof stored !== 'string' || stored === '' || stored === own || readAt(settings, path) !== stored)
      continue;
    if (!(await bindable(stored))) unbindable.push({ key, stored, own, where: 'this machine' });
  }
  return unbindable;
}

/** Warns about each stored host that this replica cannot bind to. */
export function warnOfUnbindable(logger: Logger, hosts: readonly OverruledKey[]): void {
  for (const { key, stored, own } of hosts) {
    const used = own === '' ? 'that of gateway.host' : String(own);
    logger.warn(
      `the stored ${key} = ${String(stored)} is not an address of this machine; this replica uses ${used} ` +
        'instead: PATCH it to an address of every replica, or to null',
      { key },
    );
  }
}
