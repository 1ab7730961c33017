import { type ReactNode, useLayoutEffect, useRef } from 'react';
import type { History, Message, SessionDetail } from '../api/types';
import { useSigned } from '../auth/auth';
import { Badge } from '../ui/badge';
import { Button } from '../ui/button';
import { bytes, clockTime, exactTime } from '../ui/format';
import { DecideCall } from './decide-call';
import { Markdown } from './markdown';
import { QuestionView } from './question';
import { ToolCallView } from './tool-call';
import type { LivePart, LiveTurn } from './turn-events';
import type { SentMessage } from './use-conversation';

interface Props {
  readonly history: History;
  /** Sent from this page, and not in the history yet. */
  readonly sent: readonly SentMessage[];
  readonly turn: LiveTurn;
  readonly session: SessionDetail;
  readonly onEarlier: () => void;
}

/** The messages and the running turn. Scrolls along with new text while the reader is at the end. */
export function Conversation({ history, sent, turn, session, onEarlier }: Props): ReactNode {
  const list = useStickToEnd();
  const isEmpty = history.messages.length === 0 && sent.length === 0 && turn.parts.length === 0;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
    <section className="messages" ref={list} tabIndex={0} aria-label="Messages">
      {history.has_more && (
        <div className="more">
          <Button small onClick={onEarlier}>
            Show earlier messages
          </Button>
        </div>
      )}
      {isEmpty && (
        <p className="messages-empty muted">Nothing was said yet. Write the first message below.</p>
      )}
      {session.system_prompt !== null && isEmpty && <p className="muted">{session.system_prompt}</p>}
      {history.messages.map((message) => (
        <MessageView key={message.message_id} message={message} />
      ))}
      {sent.map(({ id, content }) => (
        <article key={id} className="message message-user" aria-label="You, just now">
          <p className="plain-text">{content}</p>
          <p className="message-foot">sent, waiting for its turn</p>
        </article>
      ))}
      <LiveView turn={turn} />
    </section>
  );
}

function MessageView({ message }: { readonly message: Message }): ReactNode {
  const {
    role,
    content,
    created_at,
    tool_calls,
    incomplete,
    model,
    tokens_used,
    finish_reason,
    attachments,
  } = message;
  const isUser = role === 'user';
  const remarks = [
    exactTime(created_at).slice(0, 11) === exactTime(new Date().toISOString()).slice(0, 11)
      ? clockTime(created_at)
      : exactTime(created_at),
    ...(isUser ? [] : [model ?? undefined, `${tokens_used} tokens`]),
    finish_reason === undefined || finish_reason === 'stop' ? undefined : `ended: ${finish_reason}`,
  ].filter((one) => one !== undefined);
  return (
    <article
      className={`message message-${role}`}
      aria-label={`${isUser ? 'User' : 'Agent'}, ${exactTime(created_at)}`}
    >
      {tool_calls.map((call) => (
        <ToolCallView
          key={call.id}
          name={call.name}
          arguments={call.arguments}
          status={call.status}
          output={call.output}
          durationMs={call.duration_ms}
        />
      ))}
      {isUser ? <p className="plain-text">{content}</p> : <Markdown text={content} />}
      {attachments.map(({ id, type, name, size_bytes }) => (
        <p key={id} className="attachment">
          {type}: {name ?? 'without a name'} ({bytes(size_bytes)})
        </p>
      ))}
      <p className="message-foot">
        {remarks.join(' · ')} {incomplete !== undefined && <Badge>{incomplete}</Badge>}
      </p>
    </article>
  );
}

function LiveView({ turn: { parts, error } }: { readonly turn: LiveTurn }): ReactNode {
  return (
    <div aria-live="polite" aria-busy={parts.length > 0}>
      {parts.length > 0 && (
        <article className="message message-assistant message-live" aria-label="Agent, answering">
          {parts.map((part, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: parts are only added
            <LivePartView key={index} part={part} />
          ))}
          <p className="message-foot">
            <span className="typing" aria-hidden="true" /> answering
          </p>
        </article>
      )}
      {error !== undefined && (
        <p className="notice notice-danger" role="alert">
          {error}
        </p>
      )}
    </div>
  );
}

function LivePartView({ part }: { readonly part: LivePart }): ReactNode {
  const { can } = useSigned();
  if (part.kind === 'text') return <p className="plain-text">{part.text}</p>;
  if (part.kind === 'question') return <QuestionView question={part} />;
  const { approvalId, status } = part;
  const asks = status === 'asking' && approvalId !== undefined;
  return (
    <ToolCallView
      name={part.name}
      arguments={part.arguments}
      status={asks ? 'waiting' : status}
      output={part.output}
      durationMs={part.durationMs}
      open={asks}
    >
      {asks && can('approvals:write') && <DecideCall id={approvalId} tool={part.name} />}
      {asks && !can('approvals:write') && <p className="help">It waits for someone who may approve it.</p>}
    </ToolCallView>
  );
}

const NEAR_END_PX = 80;

/** Scrolls to what is added as long as the reader is at the end. */
function useStickToEnd(): React.RefObject<HTMLElement | null> {
  const list = useRef<HTMLElement>(null);
  const isAtEnd = useRef(true);
  useLayoutEffect(() => {
    const element = list.current;
    if (element === null) return;
    const note = (): void => {
      isAtEnd.current = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR_END_PX;
    };
    element.addEventListener('scroll', note, { passive: true });
    return () => element.removeEventListener('scroll', note);
  }, []);
  useLayoutEffect(() => {
    const element = list.current;
    if (element !== null && isAtEnd.current) element.scrollTop = element.scrollHeight;
  });
  return list;
}
