import { factsOf, foldersAbove, isFolder, isWithin, type Link, resolvedPath } from './resolved-path.js';

/** One thing that is laid into the sandbox at its own real path; `empty` covers what lies there. */
export interface Mount {
  readonly path: string;
  readonly how: 'readable' | 'writable' | 'empty';
}

export interface ShownPaths {
  /** In the order in which they are laid: what lies deeper comes later. */
  readonly mounts: readonly Mount[];
  /** Links that lead to what is shown and are not in it. */
  readonly links: readonly Link[];
}

/** Collects what is shown of the machine's files, and puts it in an order in which it can be laid. */
export class ShownPathsBuilder {
  private readonly requested = new Map<string, 'readable' | 'writable'>();
  private readonly links = new Map<string, Link>();

  /** Files and folders alone: a socket can be connected to whether it is writable or not. */
  add(path: string, how: 'readable' | 'writable'): void {
    const resolved = resolvedPath(path);
    const facts = factsOf(path);
    if (resolved === undefined || facts === undefined) return;
    if (!facts.isDirectory() && !facts.isFile()) return;
    this.passing(path);
    if (this.requested.get(resolved.real) !== 'writable') this.requested.set(resolved.real, how);
  }

  /** Keeps the links on the way to a path, so that it can be named as it was. */
  passing(path: string): void {
    for (const link of resolvedPath(path)?.links ?? []) this.links.set(link.path, link);
  }

  /** @param covered folders that are covered where something above them is shown */
  arranged(covered: readonly string[]): ShownPaths {
    const covers = covered.filter((folder) => !this.requested.has(folder) && isFolder(folder));
    const all: Mount[] = [
      ...[...this.requested].map(([path, how]) => ({ path, how })),
      ...covers.map((path) => ({ path, how: 'empty' as const })),
    ];
    const laid = new Map<string, Mount>();
    // Of two paths on one way the shorter one is above.
    for (const mount of all.sort((one, other) => one.path.length - other.path.length)) {
      const above = nearestAbove(mount.path, laid)?.how ?? 'empty';
      const isThere = above === mount.how || (above === 'writable' && mount.how === 'readable');
      if (!isThere) laid.set(mount.path, mount);
    }
    return { mounts: [...laid.values()], links: this.usefulLinks(laid) };
  }

  private usefulLinks(laid: ReadonlyMap<string, Mount>): readonly Link[] {
    const paths = [...laid.keys()];
    return [...this.links.values()].filter(({ path, target }) => {
      if ((nearestAbove(path, laid)?.how ?? 'empty') !== 'empty') return false;
      return paths.some((shown) => isWithin(shown, target) || isWithin(target, shown));
    });
  }
}

function nearestAbove(path: string, laid: ReadonlyMap<string, Mount>): Mount | undefined {
  const folder = foldersAbove(path).find((above) => laid.has(above));
  return folder === undefined ? undefined : laid.get(folder);
}
