import type { ReactNode } from 'react';
import { ApiError } from '../api/client';
import { Button } from './button';

export function Loading({ what = 'Loading' }: { readonly what?: string }): ReactNode {
  return (
    <div className="state" role="status">
      <span className="spinner" aria-hidden="true" />
      <p>{what}…</p>
    </div>
  );
}

export function Empty({
  title,
  children,
}: {
  readonly title: string;
  readonly children?: ReactNode;
}): ReactNode {
  return (
    <div className="state">
      <p className="state-title">{title}</p>
      {children !== undefined && <div className="muted">{children}</div>}
    </div>
  );
}

/** What the token may not see; says which scope it lacks. */
export function NotAllowed({ children }: { readonly children: ReactNode }): ReactNode {
  return (
    <div className="state">
      <p className="state-title">Not for this token</p>
      <div className="muted">{children}</div>
    </div>
  );
}

export function Failure({
  error,
  onRetry,
}: {
  readonly error: Error;
  readonly onRetry?: () => void;
}): ReactNode {
  const requestId = error instanceof ApiError ? error.requestId : undefined;
  return (
    <div className="notice notice-danger" role="alert">
      <div>
        <p>{error.message}</p>
        {requestId !== undefined && (
          <p className="help">
            Request <code>{requestId}</code>
          </p>
        )}
      </div>
      {onRetry !== undefined && (
        <Button small onClick={onRetry}>
          Try again
        </Button>
      )}
    </div>
  );
}

/** A request to the gateway, for one answer or for pages. */
interface Asked<Data> {
  readonly data: Data | undefined;
  readonly error: Error | null;
  refetch(): Promise<unknown>;
}

interface LoadedProps<Data> {
  readonly query: Asked<Data>;
  readonly children: (data: Data) => ReactNode;
}

/** The state of a request: loading, refused, failed, or an answer, which stays when a later request fails. */
export function Loaded<Data>({ query, children }: LoadedProps<Data>): ReactNode {
  const { data, error } = query;
  const retry = (): void => void query.refetch();
  if (data !== undefined) {
    return (
      <>
        {error !== null && <Failure error={error} onRetry={retry} />}
        {children(data)}
      </>
    );
  }
  if (error === null) return <Loading />;
  if (error instanceof ApiError && error.status === 403) return <NotAllowed>{error.message}</NotAllowed>;
  return <Failure error={error} onRetry={retry} />;
}
