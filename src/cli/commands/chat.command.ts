import { createInterface } from 'node:readline';
import type { Command } from 'commander';
import type { CommandContext } from '../command-context.js';
import { CommandFailed } from '../exit-codes.js';
import { type Chat, say } from '../remote/chat.js';
import { RemoteFailure } from '../remote/gateway-client.js';
import { gatewayOf } from '../remote/with-gateway.js';
import { printable } from '../terminal-text.js';

interface ChatOptions {
  readonly agent?: string;
  readonly session?: string;
  readonly json?: true;
}

/** The person's next line, undefined at the end of the input. */
type NextLine = (prompt: string) => Promise<string | undefined>;

/** `chat`: a conversation in the terminal, or one message and its answer. */
export function addChatCommand(program: Command, context: CommandContext): void {
  program
    .command('chat')
    .description('talk to an agent of a running gateway; with a message, send that and end (--url)')
    .argument('[message...]', 'what to say; without it each line of the input is a message')
    .option('--agent <name>', 'the agent of a new session, instead of the default one')
    .option('--session <id>', 'go on with this session')
    .option('--json', 'print each event of the answer as an object, one per line')
    .action((words: readonly string[], options: ChatOptions) => chat(words.join(' '), options, context));
}

async function chat(message: string, options: ChatOptions, context: CommandContext): Promise<void> {
  const client = gatewayOf(context);
  const { terminal } = context;
  const sessionId = options.session ?? (await newSession(options, context));
  const { nextLine, close } = linesOf(context);
  const one: Chat = { client, terminal, sessionId, ask: nextLine, isJson: options.json === true };
  try {
    if (message !== '') {
      if (!(await say(message, one, neverAborted()))) throw new CommandFailed();
      return;
    }
    terminal.err(`Session ${printable(sessionId)}. An empty line or the end of the input ends the chat.\n`);
    await talk(one, nextLine);
  } finally {
    close();
  }
  terminal.err(`The session stays: agent-gateway chat --session ${printable(sessionId)}\n`);
}

async function newSession({ agent }: ChatOptions, context: CommandContext): Promise<string> {
  const body = agent === undefined ? {} : { agent };
  const made = await gatewayOf(context).post<{ id?: string; session_id?: string }>('/api/v1/sessions', body);
  const id = made.id ?? made.session_id;
  if (id === undefined) throw new RemoteFailure('The gateway made a session without an id.');
  return id;
}

/** A message that fails does not end the conversation. */
async function talk(one: Chat, nextLine: NextLine): Promise<void> {
  for (let line = await nextLine('> '); line?.trim(); line = await nextLine('> ')) {
    try {
      await say(line, one, neverAborted());
    } catch (error) {
      if (!(error instanceof RemoteFailure)) throw error;
      one.terminal.err(`${printable(error.message)}\n`);
    }
  }
}

/** Ctrl-C ends the process; an accepted message continues without it. */
const neverAborted = (): AbortSignal => new AbortController().signal;

function linesOf({ terminal }: CommandContext): { nextLine: NextLine; close: () => void } {
  const { input } = terminal;
  if (input === undefined) return { nextLine: () => Promise.resolve(undefined), close: () => undefined };
  const reader = createInterface({ input, terminal: false });
  const lines = reader[Symbol.asyncIterator]();
  const nextLine: NextLine = async (prompt) => {
    terminal.err(prompt);
    const next: IteratorResult<string, undefined> = await lines.next();
    return next.done === true ? undefined : next.value;
  };
  return { nextLine, close: () => reader.close() };
}
