import { type ReactNode, useState } from 'react';
import type { SessionDetail } from '../api/types';
import { useSigned } from '../auth/auth';
import { Link } from '../router';
import { Composer } from '../session/composer';
import { Conversation } from '../session/conversation';
import { SessionFacts } from '../session/facts';
import { useConversation } from '../session/use-conversation';
import type { Connection } from '../session/use-live-turn';
import { Badge } from '../ui/badge';
import { Button } from '../ui/button';
import { Confirm } from '../ui/dialog';
import { Page } from '../ui/page';
import { useChange, useGet } from '../ui/queries';
import { Loaded } from '../ui/states';

/** A session: its live conversation, what it has used, and what can be done with it. */
export default function SessionPage({ id }: { readonly id: string }): ReactNode {
  const detail = useGet<SessionDetail>(`/admin/v1/sessions/${id}`);
  const shown = <Loaded query={detail}>{(session) => <OpenSession session={session} />}</Loaded>;
  return detail.data === undefined ? <Page title="Session">{shown}</Page> : shown;
}

function OpenSession({ session }: { readonly session: SessionDetail }): ReactNode {
  const { can } = useSigned();
  const { id, status } = session;
  const [ending, setEnding] = useState(false);
  const { history, live, sent, addSent, showEarlier } = useConversation(id);
  const isRunning = session.running_turn_id !== null || live.turn.parts.length > 0;
  const mayWrite = can('sessions:write') && status !== 'terminated';
  const cancelTurn = useChange<string>({ path: (turnId) => `/admin/v1/turns/${turnId}/cancel` });
  const cancel = (): void => {
    if (live.send({ type: 'cancel' }) || session.running_turn_id === null) return;
    cancelTurn.mutate(session.running_turn_id);
  };
  return (
    <Page
      tall
      title={session.agent === 'default' ? 'Session' : `Session with ${session.agent}`}
      description={
        <>
          <Link to="/sessions">Sessions</Link> / <span className="mono break">{id}</span>
        </>
      }
      actions={
        <>
          <Badge>{isRunning ? 'running' : status}</Badge>
          {mayWrite && (
            <Button kind="danger" onClick={() => setEnding(true)}>
              End session
            </Button>
          )}
        </>
      }
    >
      <div className="session">
        <section className="session-talk" aria-label="Conversation">
          <Loaded query={history}>
            {(data) => (
              <Conversation
                history={data}
                sent={sent}
                turn={live.turn}
                session={session}
                onEarlier={showEarlier}
              />
            )}
          </Loaded>
          <Lost connection={live.connection} />
          {mayWrite ? (
            <Composer
              session={session}
              isRunning={isRunning}
              isNew={history.data?.messages.length === 0 && sent.length === 0}
              onSent={addSent}
              onCancel={cancel}
            />
          ) : (
            <p className="session-closed muted">
              {status === 'terminated' ? 'This session has ended.' : 'This token may read, but not write.'}
            </p>
          )}
        </section>
        <SessionFacts session={session} />
      </div>
      {ending && <EndSession id={id} onClose={() => setEnding(false)} />}
    </Page>
  );
}

function Lost({ connection }: { readonly connection: Connection }): ReactNode {
  const text = {
    connecting: '',
    open: '',
    lost: 'The live view lost its connection and is reconnecting.',
    refused: 'The live view was refused; what you see is refreshed every few seconds.',
  }[connection];
  return (
    <p className="session-lost" role="status">
      {text}
    </p>
  );
}

function EndSession({ id, onClose }: { readonly id: string; readonly onClose: () => void }): ReactNode {
  const end = useChange<undefined>({ method: 'DELETE', path: () => `/api/v1/sessions/${id}` });
  return (
    <Confirm
      title="End this session?"
      action="End session"
      busy={end.isPending}
      error={end.error}
      onConfirm={() => end.mutate(undefined, { onSuccess: onClose })}
      onClose={onClose}
    >
      <p>
        A running turn is cancelled, and no one can write to the session again. Its history stays readable.
      </p>
    </Confirm>
  );
}
