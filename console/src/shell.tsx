import { type ReactNode, useEffect, useState } from 'react';
import type { Approval, Page } from './api/types';
import { type Area, GROUPS } from './areas';
import { useSigned } from './auth/auth';
import { Link, usePlace } from './router';
import { Button } from './ui/button';
import { Icon, Logo } from './ui/icons';
import { useGet } from './ui/queries';

interface Props {
  readonly current: Area | undefined;
  readonly children: ReactNode;
}

/** The frame of every page: the navigation, the signed-in person, and the page itself. */
export function Shell({ current, children }: Props): ReactNode {
  const [open, setOpen] = useState(false);
  const { path } = usePlace();
  // biome-ignore lint/correctness/useExhaustiveDependencies: a page that was chosen closes the menu
  useEffect(() => setOpen(false), [path]);
  useEffect(() => {
    if (!open) return;
    const close = (event: KeyboardEvent): void => {
      if (event.key === 'Escape') setOpen(false);
    };
    addEventListener('keydown', close);
    return () => removeEventListener('keydown', close);
  }, [open]);
  return (
    <div className={open ? 'shell shell-open' : 'shell'}>
      <a className="skip" href="#content">
        Skip to the content
      </a>
      <header className="topbar">
        <Button
          kind="quiet"
          aria-label={open ? 'Close the menu' : 'Open the menu'}
          aria-expanded={open}
          aria-controls="navigation"
          onClick={() => setOpen(!open)}
        >
          <Icon name={open ? 'close' : 'menu'} />
        </Button>
        <Logo />
        <span className="brand">Agent Gateway</span>
      </header>
      <div className="sidebar" id="navigation">
        <Link to="/" className="sidebar-brand">
          <Logo />
          <span className="brand">Agent Gateway</span>
        </Link>
        <Navigation current={current} />
        <Holder />
      </div>
      {open && (
        <button type="button" className="shade" aria-label="Close the menu" onClick={() => setOpen(false)} />
      )}
      <main id="content" className="content" tabIndex={-1}>
        {children}
      </main>
    </div>
  );
}

function Navigation({ current }: { readonly current: Area | undefined }): ReactNode {
  const { can } = useSigned();
  const waiting = useWaitingApprovals();
  const groups = GROUPS.map(({ title, areas }) => ({
    title,
    areas: areas.filter(({ scope, whose }) => can(scope, whose)),
  })).filter(({ areas }) => areas.length > 0);
  return (
    <nav aria-label="Pages">
      {groups.map(({ title, areas }) => (
        <div key={title} className="nav-group">
          <p className="nav-title" id={`nav-${title}`}>
            {title}
          </p>
          <ul aria-labelledby={`nav-${title}`}>
            {areas.map((area) => (
              <li key={area.path}>
                <Link
                  to={area.path}
                  className="nav-link"
                  aria-current={area === current ? 'page' : undefined}
                >
                  <Icon name={area.icon} />
                  <span>{area.title}</span>
                  {area.path === '/approvals' && waiting !== '' && (
                    <span className="nav-count">
                      {waiting}
                      <span className="hidden"> waiting</span>
                    </span>
                  )}
                </Link>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </nav>
  );
}

const COUNTED = 100;

/** How many tool calls wait for a person, as text; empty for none. */
function useWaitingApprovals(): string {
  const { can } = useSigned();
  const { data } = useGet<Page<Approval>>('/admin/v1/approvals', {
    query: { status: 'pending', limit: COUNTED },
    enabled: can('approvals:read'),
  });
  if (data === undefined || data.items.length === 0) return '';
  return data.next_cursor === null ? String(data.items.length) : `${COUNTED}+`;
}

function Holder(): ReactNode {
  const { me, signOut } = useSigned();
  return (
    <div className="holder">
      <div className="holder-name">
        <strong>{me.name}</strong>
        <span className="muted">
          {me.user_id === null ? 'all users' : `sees ${me.user_id}`} · {me.version}
        </span>
      </div>
      <Button kind="quiet" aria-label="Sign out" title="Sign out" onClick={signOut}>
        <Icon name="signOut" />
      </Button>
    </div>
  );
}
