import { type ReactNode, type SubmitEvent, useState } from 'react';
import { Button } from '../ui/button';
import { Dialog } from '../ui/dialog';
import { TextAreaField } from '../ui/fields';
import { useChange } from '../ui/queries';
import { changeOf, type Leaf } from './leaves';

interface Props {
  readonly leaf: Leaf;
  /**
   * The version of the settings that are shown: if they changed meanwhile, the gateway refuses the change instead of
   * overwriting them.
   */
  readonly etag: string | undefined;
  readonly onClose: () => void;
}

interface Answer {
  readonly updated: readonly string[];
  readonly reload_required: boolean;
}

/** Changes one setting, as JSON. */
export function SettingDialog({ leaf, etag, onClose }: Props): ReactNode {
  const [text, setText] = useState(() => JSON.stringify(leaf.value, null, 2));
  const [problem, setProblem] = useState<string | undefined>(undefined);
  const change = useChange<unknown, Answer>({
    method: 'PATCH',
    path: () => '/api/v1/config',
    body: (value) => changeOf(leaf.path, value),
    headers: () => (etag === undefined ? {} : { 'If-Match': etag }),
  });
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    try {
      const value: unknown = JSON.parse(text);
      setProblem(undefined);
      change.mutate(value);
    } catch {
      setProblem('This is not JSON. Text stands in quotation marks: "like this".');
    }
  };
  const { data } = change;
  return (
    <Dialog title={`Change ${leaf.key}`} onClose={onClose}>
      {data === undefined ? (
        <form onSubmit={submit}>
          <TextAreaField
            label="Value, as JSON"
            value={text}
            hint="null removes the change made here."
            onChange={setText}
          />
          {(problem !== undefined || change.error !== null) && (
            <p className="help help-problem" role="alert">
              {problem ?? change.error?.message}
            </p>
          )}
          <div className="dialog-actions">
            <Button onClick={onClose}>Cancel</Button>
            <Button kind="primary" type="submit" busy={change.isPending}>
              Change
            </Button>
          </div>
        </form>
      ) : (
        <>
          <p role="status">
            {data.updated.length === 0
              ? 'It already had this value.'
              : `Changed: ${data.updated.join(', ')}.`}
            {data.reload_required && ' It takes effect at the next start.'}
          </p>
          <div className="dialog-actions">
            <Button kind="primary" onClick={onClose}>
              Close
            </Button>
          </div>
        </>
      )}
    </Dialog>
  );
}
