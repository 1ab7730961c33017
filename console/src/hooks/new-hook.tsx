import { type ReactNode, type SubmitEvent, useState } from 'react';
import { useSigned } from '../auth/auth';
import { Button } from '../ui/button';
import { Dialog } from '../ui/dialog';
import { TextField } from '../ui/fields';
import { useChange } from '../ui/queries';

const EVENTS = [
  'session.*',
  'message.*',
  'tool.*',
  'error.*',
  'channel.*',
  'mcp.*',
  'plugin.*',
  'budget.*',
  'config.*',
];
const AUDIT = 'audit.*';

interface Input {
  readonly url: string;
  readonly events: readonly string[];
  readonly secret: string;
}

export function NewHook({ onClose }: { readonly onClose: () => void }): ReactNode {
  const { can } = useSigned();
  const [url, setUrl] = useState('');
  const [secret, setSecret] = useState('');
  const [events, setEvents] = useState<readonly string[]>(['error.*']);
  const create = useChange<Input>({
    path: () => '/api/v1/hooks',
    body: ({ secret: given, ...rest }) => (given === '' ? rest : { ...rest, secret: given }),
  });
  const toggle = (name: string): void =>
    setEvents((before) => (before.includes(name) ? before.filter((one) => one !== name) : [...before, name]));
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    create.mutate({ url: url.trim(), events, secret }, { onSuccess: onClose });
  };
  return (
    <Dialog title="New webhook" onClose={onClose}>
      <form onSubmit={submit} noValidate>
        <TextField label="URL" value={url} hint="https://…; events are posted here." onChange={setUrl} />
        <fieldset className="choices">
          <legend>Events</legend>
          {[...EVENTS, ...(can('audit:read') ? [AUDIT] : [])].map((name) => (
            <label key={name} className="check">
              <input type="checkbox" checked={events.includes(name)} onChange={() => toggle(name)} />
              <span className="mono">{name}</span>
            </label>
          ))}
        </fieldset>
        <TextField
          label="Secret"
          value={secret}
          hint="Signs the deliveries; leave it empty for unsigned ones. It is not shown again."
          onChange={setSecret}
        />
        {create.error !== null && (
          <p className="help help-problem" role="alert">
            {create.error.message}
          </p>
        )}
        <div className="dialog-actions">
          <Button onClick={onClose}>Cancel</Button>
          <Button
            kind="primary"
            type="submit"
            busy={create.isPending}
            disabled={url === '' || events.length === 0}
          >
            Create webhook
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
