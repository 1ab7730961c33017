import { factsOf, foldersAbove, isFolder, isWithin, type Link, resolvedPath } from './paths.js';

/** One mount in the sandbox, at its own real path; `empty` covers what is there. */
export interface Mount {
  readonly path: string;
  readonly how: 'readable' | 'writable' | 'empty';
}

export interface ShownPaths {
  /** In mount order: deeper paths come later. */
  readonly mounts: readonly Mount[];
  /** Links that lead to shown paths and are not in a mount themselves. */
  readonly links: readonly Link[];
}

/** Collects the paths to show and arranges them in the order in which they can be mounted. */
export class ShownPathsBuilder {
  private readonly requested = new Map<string, 'readable' | 'writable'>();
  private readonly links = new Map<string, Link>();

  /** Adds a file or a folder. Sockets are ignored, because even a read-only one can be connected to. */
  add(path: string, how: 'readable' | 'writable'): void {
    const resolved = resolvedPath(path);
    const facts = factsOf(path);
    if (resolved === undefined || facts === undefined) return;
    if (!facts.isDirectory() && !facts.isFile()) return;
    this.addLinks(path);
    if (this.requested.get(resolved.real) !== 'writable') this.requested.set(resolved.real, how);
  }

  /** Keeps the links on the way to a path, so that the child can use the path as it is written. */
  addLinks(path: string): void {
    for (const link of resolvedPath(path)?.links ?? []) this.links.set(link.path, link);
  }

  /** @param covered folders to cover with an empty one where a folder above is shown */
  arranged(covered: readonly string[]): ShownPaths {
    const covers = covered.filter((folder) => !this.requested.has(folder) && isFolder(folder));
    const all: Mount[] = [
      ...[...this.requested].map(([path, how]) => ({ path, how })),
      ...covers.map((path) => ({ path, how: 'empty' as const })),
    ];
    const mounted = new Map<string, Mount>();
    // Of two nested paths the shorter one is above.
    for (const mount of all.sort((one, other) => one.path.length - other.path.length)) {
      const above = nearestAbove(mount.path, mounted)?.how ?? 'empty';
      const isThere = above === mount.how || (above === 'writable' && mount.how === 'readable');
      if (!isThere) mounted.set(mount.path, mount);
    }
    return { mounts: [...mounted.values()], links: this.usefulLinks(mounted) };
  }

  private usefulLinks(mounted: ReadonlyMap<string, Mount>): readonly Link[] {
    const paths = [...mounted.keys()];
    return [...this.links.values()].filter(({ path, target }) => {
      if ((nearestAbove(path, mounted)?.how ?? 'empty') !== 'empty') return false;
      return paths.some((shown) => isWithin(shown, target) || isWithin(target, shown));
    });
  }
}

function nearestAbove(path: string, mounted: ReadonlyMap<string, Mount>): Mount | undefined {
  const folder = foldersAbove(path).find((above) => mounted.has(above));
  return folder === undefined ? undefined : mounted.get(folder);
}
