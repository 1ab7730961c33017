import { type ReactNode, useState } from 'react';
import type { Agent, Me, Page } from '../api/types';
import { useSigned } from '../auth/auth';
import { navigate } from '../router';
import { Button } from '../ui/button';
import { Dialog } from '../ui/dialog';
import { SelectField, TextField } from '../ui/fields';
import { useChange, useGet } from '../ui/queries';

interface Input {
  readonly agent: string;
  readonly user: string;
}

/** The name of the token, where a user id may be given; the gateway itself knows people of an identity provider. */
function usualUser({ name, user_id }: Me): string {
  return user_id !== null || name.includes('|') ? '' : name;
}

/** Asks which agent to talk to, and starts the session. */
export function NewSession({ onClose }: { readonly onClose: () => void }): ReactNode {
  const { can, me } = useSigned();
  const seesAgents = can('agents:read', 'everyone');
  const agents = useGet<Page<Agent>>('/admin/v1/agents', {
    query: { limit: 500 },
    refreshMs: false,
    enabled: seesAgents,
  });
  const [agent, setAgent] = useState('');
  // The two profiles name the id differently.
  const create = useChange<Input, { id?: string; session_id?: string }>({
    path: () => '/api/v1/sessions',
    body: ({ agent: name, user: id }) => ({
      ...(name !== '' && { agent: name }),
      ...(id !== '' && { user_id: id }),
    }),
  });
  const [user, setUser] = useState(() => usualUser(me));
  const begin = (): void =>
    create.mutate(
      { agent, user: user.trim() },
      {
        onSuccess: ({ id, session_id }) => navigate(`/sessions/${id ?? session_id ?? ''}`),
      },
    );
  const names = agents.data?.items.map(({ name }) => name) ?? me.agents ?? [];
  return (
    <Dialog title="New session" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          begin();
        }}
      >
        {names.length > 0 ? (
          <SelectField
            label="Agent"
            value={agent}
            options={[['', 'Default'], ...names.map((name) => [name, name] as const)]}
            onChange={setAgent}
          />
        ) : (
          <TextField label="Agent" value={agent} hint="Leave it empty for the default." onChange={setAgent} />
        )}
        {me.user_id === null && (
          <TextField
            label="User"
            value={user}
            hint="What the agent remembers is kept for this user."
            onChange={setUser}
          />
        )}
        {create.error !== null && (
          <p className="help help-problem" role="alert">
            {create.error.message}
          </p>
        )}
        <div className="dialog-actions">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" busy={create.isPending}>
            Start
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
