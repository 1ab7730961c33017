import { type ComponentType, lazy, type ReactNode, Suspense, useEffect } from 'react';
import { AREAS, type Area } from './areas';
import { useSigned } from './auth/auth';
import { Failures } from './failures';
import { navigate, usePlace } from './router';
import { Shell } from './shell';
import { Page } from './ui/page';
import { Empty, Loading, NotAllowed } from './ui/states';

const PAGES: Readonly<Record<string, ComponentType>> = {
  '/': lazy(() => import('./pages/overview')),
  '/sessions': lazy(() => import('./pages/sessions')),
  '/approvals': lazy(() => import('./pages/approvals')),
  '/logs': lazy(() => import('./pages/logs')),
  '/agents': lazy(() => import('./pages/agents')),
  '/usage': lazy(() => import('./pages/usage')),
  '/audit': lazy(() => import('./pages/audit')),
  '/channels': lazy(() => import('./pages/channels')),
  '/hooks': lazy(() => import('./pages/hooks')),
  '/servers': lazy(() => import('./pages/servers')),
  '/plugins': lazy(() => import('./pages/plugins')),
  '/skills': lazy(() => import('./pages/skills')),
  '/config': lazy(() => import('./pages/config')),
  '/tokens': lazy(() => import('./pages/tokens')),
};

const SessionPage = lazy(() => import('./pages/session'));

export function App(): ReactNode {
  const { path } = usePlace();
  const { can } = useSigned();
  const area = AREAS.find(
    (one) => one.path === path || (one.path !== '/' && path.startsWith(`${one.path}/`)),
  );
  const firstAllowed = AREAS.find(({ scope, whose }) => can(scope, whose));
  // Whoever may not see the overview begins with what they may see.
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
