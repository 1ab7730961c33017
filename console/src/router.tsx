import { type AnchorHTMLAttributes, type MouseEvent, type ReactNode, useSyncExternalStore } from 'react';

const BASE = '/console';
const MOVED = 'console:moved';

export interface Place {
  /** The path below `/console`, starting with a slash. */
  readonly path: string;
  readonly query: URLSearchParams;
}

let current = placeOf(location);
/** The path at which the console was opened. */
export const firstPath = current.path;

function placeOf({ pathname, search }: Pick<Location, 'pathname' | 'search'>): Place {
  const path = pathname.startsWith(BASE) ? pathname.slice(BASE.length) : pathname;
  return { path: path.replace(/\/+$/, '') || '/', query: new URLSearchParams(search) };
}

function subscribe(changed: () => void): () => void {
  const moved = (): void => {
    current = placeOf(location);
    changed();
  };
  addEventListener('popstate', moved);
  addEventListener(MOVED, moved);
  return () => {
    removeEventListener('popstate', moved);
    removeEventListener(MOVED, moved);
  };
}

export function usePlace(): Place {
  return useSyncExternalStore(subscribe, () => current);
}

/** Goes to a path below `/console`; with `replace` it takes the place of the current one in the history. */
export function navigate(to: string, { replace = false } = {}): void {
  history[replace ? 'replaceState' : 'pushState'](null, '', hrefOf(to));
  dispatchEvent(new Event(MOVED));
}

/** Puts a filter into the address, so that a reload or a copied link shows the same. */
export function setQuery(changes: Readonly<Record<string, string>>): void {
  const { path, query } = placeOf(location);
  const next = new URLSearchParams(query);
  for (const [name, value] of Object.entries(changes)) {
    if (value === '') next.delete(name);
    else next.set(name, value);
  }
  const text = next.toString();
  navigate(text === '' ? path : `${path}?${text}`, { replace: true });
}

function hrefOf(to: string): string {
  return to === '/' ? BASE : `${BASE}${to}`;
}

interface LinkProps extends AnchorHTMLAttributes<HTMLAnchorElement> {
  readonly to: string;
  readonly children: ReactNode;
}

export function Link({ to, onClick, children, ...rest }: LinkProps): ReactNode {
  const follow = (event: MouseEvent<HTMLAnchorElement>): void => {
    onClick?.(event);
    const isPlain =
      event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    if (event.defaultPrevented || !isPlain) return;
    event.preventDefault();
    navigate(to);
  };
  return (
    <a {...rest} href={hrefOf(to)} onClick={follow}>
      {children}
    </a>
  );
}
