import type { ReactNode } from 'react';
import { Button } from '../ui/button';
import { useChange } from '../ui/queries';

interface Decision {
  readonly decision: 'allow' | 'deny';
}

/** Buttons that decide whether a waiting call of a tool may run. */
export function DecideCall({ id, tool }: { readonly id: string; readonly tool: string }): ReactNode {
  const decide = useChange<Decision>({
    path: () => `/admin/v1/approvals/${id}/decision`,
    body: (decision) => decision,
  });
  return (
    <div className="decide">
      <Button
        kind="primary"
        small
        busy={decide.isPending}
        aria-label={`Allow ${tool}`}
        onClick={() => decide.mutate({ decision: 'allow' })}
      >
        Allow
      </Button>
      <Button
        kind="danger"
        small
        busy={decide.isPending}
        aria-label={`Deny ${tool}`}
        onClick={() => decide.mutate({ decision: 'deny' })}
      >
        Deny
      </Button>
      {decide.error !== null && (
        <span className="help help-problem" role="alert">
          {decide.error.message}
        </span>
      )}
    </div>
  );
}
