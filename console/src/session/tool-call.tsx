import type { ReactNode } from 'react';
import { Badge } from '../ui/badge';
import { duration, Json, Output } from '../ui/format';
import { Icon } from '../ui/icons';

interface Props {
  readonly name: string;
  readonly arguments: unknown;
  readonly status: string;
  readonly output?: string | undefined;
  readonly durationMs?: number | undefined;
  /** Buttons that decide a waiting call. */
  readonly children?: ReactNode;
  readonly open?: boolean;
}

/** One call of a tool, folded into one line. */
export function ToolCallView({
  name,
  arguments: given,
  status,
  output,
  durationMs,
  children,
  open,
}: Props): ReactNode {
  return (
    <div className="call">
      <details open={open === true}>
        <summary>
          <Icon name="tool" />
          <span className="call-name mono">{name}</span>
          <Badge>{status}</Badge>
          {durationMs !== undefined && <span className="muted">{duration(durationMs)}</span>}
        </summary>
        <div className="call-body">
          <p className="label">Arguments</p>
          <Json value={given} label={`Arguments of ${name}`} />
          {output !== undefined && (
            <>
              <p className="label">Result</p>
              <Output text={output === '' ? '(nothing)' : output} label={`Result of ${name}`} />
            </>
          )}
        </div>
      </details>
      {children}
    </div>
  );
}
