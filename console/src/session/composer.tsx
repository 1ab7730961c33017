import { type KeyboardEvent, type ReactNode, type SubmitEvent, useState } from 'react';
import type { Agent, Page, SessionDetail } from '../api/types';
import { useSigned } from '../auth/auth';
import { Button } from '../ui/button';
import { Icon } from '../ui/icons';
import { useChange, useGet } from '../ui/queries';
import type { SentMessage } from './use-conversation';

interface Props {
  readonly session: SessionDetail;
  readonly isRunning: boolean;
  readonly isNew: boolean;
  readonly onSent: (message: SentMessage) => void;
  readonly onCancel: () => void;
}

/** Where messages are written. Enter sends; Shift and Enter starts a new line. */
export function Composer({ session, isRunning, isNew, onSent, onCancel }: Props): ReactNode {
  const [text, setText] = useState('');
  const send = useChange<string, { message_id: string }>({
    path: () => `/api/v1/sessions/${session.id}/messages`,
    body: (content) => ({ content }),
    headers: () => ({ Prefer: 'respond-async' }),
  });
  const submit = (content: string): void => {
    if (content.trim() === '' || send.isPending) return;
    // Cleared at once, not when the message has arrived: what is typed meanwhile is the next message.
    if (content === text) setText('');
    send.mutate(content, {
      onSuccess: ({ message_id }) => onSent({ id: message_id, content }),
      onError: () => setText((typed) => (typed === '' ? content : typed)),
    });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    submit(text);
  };
  return (
    <div className="composer">
      {isNew && <Suggestions session={session} busy={send.isPending} onChoose={submit} />}
      {send.error !== null && (
        <p className="help help-problem" role="alert">
          {send.error.message}
        </p>
      )}
      <form
        className="composer-line"
        onSubmit={(event: SubmitEvent) => {
          event.preventDefault();
          submit(text);
        }}
      >
        <label className="hidden" htmlFor="message">
          Message
        </label>
        <textarea
          id="message"
          className="input"
          rows={Math.min(8, Math.max(1, text.split('\n').length))}
          placeholder="Write a message"
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={onKeyDown}
        />
        {isRunning && (
          <Button kind="danger" onClick={onCancel}>
            <Icon name="stop" /> Cancel
          </Button>
        )}
        <Button kind="primary" type="submit" busy={send.isPending} disabled={text.trim() === ''}>
          <Icon name="send" /> Send
        </Button>
      </form>
    </div>
  );
}

/** What the built-in agent without a model understands; docs/models.md lists its commands. */
const OFFLINE = [
  ['List the tools', '/tools'],
  ['Call a tool: remember something', '/call memory_store {"content": "I tried the console"}'],
  ['Call a tool: look it up', '/call memory_recall {"query": "console"}'],
] as const;
const ANY = [['What can you do?', 'What can you do for me?']] as const;

interface SuggestionsProps {
  readonly session: SessionDetail;
  readonly busy: boolean;
  readonly onChoose: (content: string) => void;
}

/** First messages to click, so that no one has to know what to write. */
function Suggestions({ session, busy, onChoose }: SuggestionsProps): ReactNode {
  const isOffline = useIsOffline(session);
  return (
    <div className="suggestions">
      {isOffline && (
        <p className="help">No model is configured, so the built-in agent answers. Try its tools:</p>
      )}
      <ul aria-label="Suggestions">
        {[...ANY, ...(isOffline ? OFFLINE : [])].map(([label, content]) => (
          <li key={label}>
            <Button small busy={busy} onClick={() => onChoose(content)}>
              {label}
            </Button>
          </li>
        ))}
      </ul>
    </div>
  );
}

function useIsOffline({ model, agent }: SessionDetail): boolean {
  const { can } = useSigned();
  const agents = useGet<Page<Agent>>('/admin/v1/agents', {
    query: { limit: 500 },
    refreshMs: false,
    enabled: can('agents:read', 'everyone'),
  });
  const first = agents.data?.items.find(({ name }) => name === agent)?.models[0]?.name;
  return /(?:^|\/)offline$/.test(model ?? first ?? '');
}
