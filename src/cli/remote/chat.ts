import type { Terminal } from '../command-context.js';
import { jsonLine, printable, shownText } from '../terminal-text.js';
import { eventsOf } from './follow.js';
import { type GatewayClient, RemoteFailure } from './gateway-client.js';

/** A session of a running gateway, for a person at a terminal. */
export interface Chat {
  readonly client: GatewayClient;
  readonly terminal: Terminal;
  readonly sessionId: string;
  /** The person's answers; undefined when nobody can be asked. */
  readonly ask: (question: string) => Promise<string | undefined>;
  /** Each event is printed as an object in a line of its own; false unless given. */
  readonly isJson?: boolean;
}

type EventData = Readonly<Record<string, unknown>>;

/**
 * Sends one message and prints its turn as it comes: the answer to standard output, tools and remarks to standard error.
 * @returns whether it was answered
 */
export async function say(content: string, chat: Chat, signal: AbortSignal): Promise<boolean> {
  const path = `/api/v1/sessions/${encodeURIComponent(chat.sessionId)}/messages`;
  const answer = await chat.client.postStream(path, { content }, signal);
  for await (const { event, data } of eventsOf(answer)) {
    const show = chat.isJson === true ? printEvent : showEvent;
    const ended = await show(event ?? '', JSON.parse(data) as EventData, chat);
    if (ended !== undefined) return ended;
  }
  throw new RemoteFailure(
    'The connection ended before the answer did. The turn goes on: "agent-gateway chat --session" finds its answer in the session.',
  );
}

/** The same for programs. */
async function printEvent(event: string, data: EventData, chat: Chat): Promise<boolean | undefined> {
  chat.terminal.out(jsonLine({ event, ...data }));
  if (event === 'tool_approval') await approve(data, chat);
  return event === 'done' ? true : event === 'error' ? false : undefined;
}

/** Shows one event of a turn. @returns whether the turn was answered, once it is over */
export async function showEvent(event: string, data: EventData, chat: Chat): Promise<boolean | undefined> {
  const { terminal } = chat;
  const remark = (text: string): void => terminal.err(`[${printable(text)}]\n`);
  switch (event) {
    case 'token':
      terminal.out(shownText(String(data['content'])));
      return undefined;
    case 'tool_call':
      remark(`calls ${String(data['name'])} ${JSON.stringify(data['arguments'] ?? {})}`);
      return undefined;
    case 'tool_result':
      remark(`${String(data['name'])}: ${data['is_error'] === true ? 'failed' : 'done'}`);
      return undefined;
    case 'tool_approval':
      await approve(data, chat);
      return undefined;
    case 'tool_question':
      if (data['status'] === 'pending')
        remark(`${String(data['name'])} asks: ${String(data['message'])} Answer in the console.`);
      return undefined;
    case 'restarted':
      remark('another replica goes on; the answer begins again');
      return undefined;
    case 'done':
      terminal.out('\n');
      return true;
    case 'error':
      terminal.out('\n');
      terminal.err(`${printable(messageOf(data['error']))}\n`);
      return false;
    default:
      return undefined;
  }
}

/** Asks the person whether a call may run. Without an answer it keeps waiting for somebody else. */
async function approve(data: EventData, { client, terminal, ask }: Chat): Promise<void> {
  if (data['status'] !== 'pending') return;
  const tool = printable(String(data['name']));
  const id = String(data['approval_id']);
  const said = await ask(`[${tool} waits for a person. Allow it? y/n] `);
  const decision = /^y(es)?$/i.test(said?.trim() ?? '') ? 'allow' : 'deny';
  if (said === undefined) {
    terminal.err(`[${tool} waits: agent-gateway approvals allow ${printable(id)}]\n`);
    return;
  }
  try {
    await client.post(`/admin/v1/approvals/${encodeURIComponent(id)}/decision`, { decision });
  } catch (error) {
    if (!(error instanceof RemoteFailure)) throw error;
    terminal.err(`[${printable(error.message)}]\n`);
  }
}

/** The sentence of an error in either profile's envelope. */
function messageOf(error: unknown): string {
  if (typeof error === 'string') return error;
  const { message, error: inner } = (error ?? {}) as { message?: unknown; error?: unknown };
  if (typeof message === 'string') return message;
  return inner === undefined ? 'The turn failed.' : messageOf(inner);
}
