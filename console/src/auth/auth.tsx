import { useQuery, useQueryClient } from '@tanstack/react-query';
import { createContext, type ReactNode, useCallback, useContext, useEffect, useMemo, useState } from 'react';
import { type Api, ApiError, createApi, exchangeCode } from '../api/client';
import type { Me } from '../api/types';
import { Loading } from '../ui/states';
import { SignInPage } from './sign-in-page';

const STORED = 'agent-gateway.console';

interface Credential {
  readonly token: string;
  /** The id of a token that a sign-in link made: the token is revoked when its holder signs out. */
  readonly ownId?: string;
}

export interface Signed {
  readonly api: Api;
  readonly me: Me;
  /** Whether the token has a scope; with `everyone`, also whether it sees more than one user. */
  readonly can: (scope: string, whose?: 'own' | 'everyone') => boolean;
  readonly signOut: () => void;
}

const SignedContext = createContext<Signed | undefined>(undefined);

/** The calls and rights of the signed-in person. Only below `Authenticated`. */
export function useSigned(): Signed {
  const signed = useContext(SignedContext);
  if (signed === undefined) throw new Error('No one is signed in here.');
  return signed;
}

/** Shows its children to those who are signed in, and the sign-in page to everyone else. */
export function Authenticated({ children }: { readonly children: ReactNode }): ReactNode {
  const [credential, setCredential] = useState<Credential | undefined>(readStored);
  const [notice, setNotice] = useState<string | undefined>(undefined);
  const code = useSignInCode(setCredential, setNotice);
  const queries = useQueryClient();

  const leave = useCallback(
    (why: string | undefined) => {
      sessionStorage.removeItem(STORED);
      queries.clear();
      setNotice(why);
      setCredential(undefined);
    },
    [queries],
  );
  const enter = useCallback((token: string, remember: boolean) => {
    setNotice(undefined);
    setCredential(store({ token }, remember));
  }, []);

  if (code === 'exchanging') return <Loading what="Signing in" />;
  if (credential === undefined) return <SignInPage notice={notice} onToken={enter} />;
  return (
    <WithToken key={credential.token} credential={credential} onLeave={leave}>
      {children}
    </WithToken>
  );
}

interface WithTokenProps {
  readonly credential: Credential;
  readonly onLeave: (why: string | undefined) => void;
  readonly children: ReactNode;
}

function WithToken({ credential, onLeave, children }: WithTokenProps): ReactNode {
  const api = useMemo(
    () =>
      createApi(credential.token, () =>
        onLeave('The token is no longer valid, or never was. Sign in again.'),
      ),
    [credential.token, onLeave],
  );
  const me = useQuery({ queryKey: ['me'], queryFn: ({ signal }) => api.get<Me>('/admin/v1/me', {}, signal) });
  const signed = useMemo((): Signed | undefined => {
    const data = me.data;
    if (data === undefined) return undefined;
    const signOut = (): void => {
      const { ownId } = credential;
      if (ownId !== undefined) void api.send('DELETE', `/admin/v1/tokens/${ownId}`).catch(() => undefined);
      onLeave(undefined);
    };
    return { api, me: data, signOut, can: (scope, whose = 'own') => holds(data, scope, whose) };
  }, [me.data, api, credential, onLeave]);
  if (signed !== undefined) return <SignedContext value={signed}>{children}</SignedContext>;
  if (me.error === null) return <Loading what="Signing in" />;
  return (
    <SignInPage
      notice={refusal(me.error)}
      onToken={() => onLeave(undefined)}
      onRetry={() => void me.refetch()}
    />
  );
}

function refusal(error: Error): string {
  return error instanceof ApiError && error.status === 404
    ? 'This gateway does not serve the operators\' API, which the console needs: gateway.faces has to name "admin".'
    : error.message;
}

function holds({ scopes, user_id }: Me, scope: string, whose: 'own' | 'everyone'): boolean {
  return (scopes.includes('*') || scopes.includes(scope)) && (whose === 'own' || user_id === null);
}

/**
 * Removes the code of a sign-in link from the address, so that neither the history nor a copied link contains it, and
 * exchanges it.
 */
function useSignInCode(
  onCredential: (credential: Credential) => void,
  onNotice: (notice: string) => void,
): 'exchanging' | 'none' {
  const [code, setCode] = useState(() => /^#code=([\w-]+)$/.exec(location.hash)?.[1]);
  useEffect(() => {
    if (code === undefined) return;
    history.replaceState(null, '', location.pathname + location.search);
    codeExchange(code)
      .then(onCredential, (error: unknown) =>
        onNotice(error instanceof Error ? error.message : String(error)),
      )
      .finally(() => setCode(undefined));
  }, [code, onCredential, onNotice]);
  return code === undefined ? 'none' : 'exchanging';
}

const exchanges = new Map<string, Promise<Credential>>();

/** A code works once, but React may run an effect twice. */
function codeExchange(code: string): Promise<Credential> {
  const running =
    exchanges.get(code) ?? exchangeCode(code).then(({ token, id }) => store({ token, ownId: id }, true));
  exchanges.set(code, running);
  return running;
}

function store(credential: Credential, remember: boolean): Credential {
  if (remember) sessionStorage.setItem(STORED, JSON.stringify(credential));
  else sessionStorage.removeItem(STORED);
  return credential;
}

function readStored(): Credential | undefined {
  try {
    const stored = JSON.parse(sessionStorage.getItem(STORED) ?? 'null') as Credential | null;
    return typeof stored?.token === 'string' ? stored : undefined;
  } catch {
    return undefined;
  }
}
