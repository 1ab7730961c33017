import { type ComponentType, lazy, type ReactNode, Suspense, useEffect } from 'react';
import { AREAS, type Area } from './areas';
import { useSigned } from './auth/auth';
import { Failures } from './failures';
import { navigate, usePlace } from './router';
import { Shell } from './shell';
import { Page } from './ui/page';
import { Empty, Loading, NotAllowed } from './ui/states';

type Loader = () => Promise<{ readonly default: ComponentType }>;

const LOADERS: Readonly<Record<string, Loader>> = {
  '/': () => import('./pages/overview'),
  '/sessions': () => import('./pages/sessions'),
  '/approvals': () => import('./pages/approvals'),
  '/logs': () => import('./pages/logs'),
  '/agents': () => import('./pages/agents'),
  '/usage': () => import('./pages/usage'),
  '/audit': () => import('./pages/audit'),
  '/channels': () => import('./pages/channels'),
  '/hooks': () => import('./pages/hooks'),
  '/servers': () => import('./pages/servers'),
  '/plugins': () => import('./pages/plugins'),
  '/skills': () => import('./pages/skills'),
  '/config': () => import('./pages/config'),
  '/tokens': () => import('./pages/tokens'),
};

const PAGES: Readonly<Record<string, ComponentType>> = Object.fromEntries(
  Object.entries(LOADERS).map(([path, load]) => [path, lazy(load)]),
);

/**
 * Loads the requested page while the token is still being checked. A page that cannot be loaded says so when it is
 * shown.
 */
export function loadFirstPage(path: string): void {
  LOADERS[path]?.().catch(() => undefined);
}

const SessionPage = lazy(() => import('./pages/session'));

export function App(): ReactNode {
  const { path } = usePlace();
  const { can } = useSigned();
  const area = AREAS.find(
    (one) => one.path === path || (one.path !== '/' && path.startsWith(`${one.path}/`)),
  );
  const firstAllowed = AREAS.find(({ scope, whose }) => can(scope, whose));
  // Those who may not see the overview start with the first page that they may see.
  const elsewhere =
    path === '/' && firstAllowed !== undefined && firstAllowed.path !== '/' ? firstAllowed.path : undefined;
  useEffect(() => {
    if (elsewhere !== undefined) navigate(elsewhere, { replace: true });
  }, [elsewhere]);
  if (elsewhere !== undefined) return null;
  return (
    <Shell current={area}>
      <Failures key={path}>
        <Suspense fallback={<Loading />}>
          <Shown path={path} area={area} />
        </Suspense>
      </Failures>
    </Shell>
  );
}

function Shown({ path, area }: { readonly path: string; readonly area: Area | undefined }): ReactNode {
  const { can } = useSigned();
  if (area !== undefined && !can(area.scope, area.whose)) {
    return (
      <Page title={area.title}>
        <NotAllowed>
          {can(area.scope)
            ? 'This token is bound to one user, and this page is about all of them.'
            : `This token lacks the scope ${area.scope}. Ask an operator for one that has it.`}
        </NotAllowed>
      </Page>
    );
  }
  const [, id] = /^\/sessions\/([\w-]+)$/.exec(path) ?? [];
  if (id !== undefined) return <SessionPage key={id} id={id} />;
  const Found = PAGES[path];
  if (Found !== undefined) return <Found />;
  return (
    <Page title="Not found">
      <Empty title="There is no such page">Choose one in the navigation.</Empty>
    </Page>
  );
}
