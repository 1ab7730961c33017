import { type ReactNode, useId } from 'react';
import { Button } from './button';
import { useChange } from './queries';

interface Props {
  readonly path: string;
  /** Tells screen readers which of the many things it acts on. */
  readonly label: string;
  readonly body?: unknown;
  readonly kind?: 'plain' | 'danger' | 'primary';
  readonly children: string;
}

/** Does one thing at once and shows the result beside itself. */
export function ActionButton({ path, label, body, kind = 'plain', children }: Props): ReactNode {
  const id = useId();
  const action = useChange<undefined>({ path: () => path, body: () => body });
  return (
    <span className="action">
      <Button
        small
        kind={kind}
        busy={action.isPending}
        aria-label={label}
        aria-describedby={id}
        onClick={() => action.mutate(undefined)}
      >
        {children}
      </Button>
      <span id={id} role="status" className={action.error === null ? 'help' : 'help help-problem'}>
        {action.error?.message ?? (action.isSuccess ? 'Done' : '')}
      </span>
    </span>
  );
}
