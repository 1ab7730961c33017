import type { CallToolResult, Tool } from '@modelcontextprotocol/server';
import { Injectable } from '@nestjs/common';
import { BadFields, type FieldProblem } from '../../common/errors/gateway-error.js';
import { agentNames, agentSettings } from '../../platform/settings/agent-settings.js';
import { Settings } from '../../platform/settings/settings.js';
import { refuseAgent } from '../../platform/tokens/agent-access.js';
import type { Caller } from '../../platform/tokens/caller.js';
import type { Message } from '../turns/turns.api.js';
import { type AskedTurn, AskedTurns, type Asker, type Question } from './asked-turns.service.js';
import { asHandedOver, CallerGone, failed } from './failed-call.js';
import { type ProgressListener, turnProgress } from './turn-progress.js';

const PREFIX = 'ask_';
const MAX_MESSAGE_BYTES = 262_144;
const FIELDS = ['message', 'session_id'];

const INPUT = {
  type: 'object' as const,
  properties: {
    message: { type: 'string', minLength: 1, description: 'What to ask, at most 256 KiB' },
    session_id: { type: 'string', description: 'The session of an earlier answer, to go on with it' },
  },
  required: ['message'],
  additionalProperties: false,
};
const OUTPUT = {
  type: 'object' as const,
  properties: {
    session_id: { type: 'string', description: 'Send it with the next message to go on' },
    message_id: { type: 'string' },
    content: { type: 'string' },
    model: { type: ['string', 'null'] },
    tokens_used: { type: 'integer' },
  },
  required: ['session_id', 'message_id', 'content'],
};

/** The tools `ask_<agent>`: a question to an agent is a message of a session, under all its rules. */
@Injectable()
export class AskTools {
  constructor(
    private readonly asked: AskedTurns,
    private readonly settings: Settings,
  ) {}

  /** One tool for each agent that the caller may talk to. */
  list(caller: Caller): Tool[] {
    return agentNames(this.settings.current)
      .filter((name) => this.mayTalkTo(name, caller))
      .map((name) => ({
        name: `${PREFIX}${name}`,
        description: this.descriptionOf(name),
        inputSchema: INPUT,
        outputSchema: OUTPUT,
      }));
  }

  has(tool: string): boolean {
    return agentNames(this.settings.current).some((name) => tool === `${PREFIX}${name}`);
  }

  /**
   * Asks, and waits for the answer. A failure is a result that says so, as the protocol requires. Throws
   * `TurnHandedOver` when it cannot be shown here any longer: this replica stops, the token ended, the database is away.
   */
  async call(
    tool: string,
    args: unknown,
    { asker, messageId, listener, gone }: CallTerms,
  ): Promise<CallToolResult> {
    try {
      const question: Question = { ...questionOf(args), agent: tool.slice(PREFIX.length), messageId };
      const asked = await this.asked.ask(question, asker, turnProgress(listener));
      return await answered(asked, gone).catch((error: unknown) => failed(error, asked.sessionId));
    } catch (error) {
      return failed(error);
    }
  }

  /** The result of a call that was made before, when its turn is over. Throws `TurnHandedOver` like `call`. */
  async result(
    turnId: string,
    { asker, listener, gone }: Omit<CallTerms, 'messageId'>,
  ): Promise<CallToolResult> {
    try {
      const asked = await this.asked.follow(turnId, asker, turnProgress(listener));
      return await answered(asked, gone).catch((error: unknown) => failed(error, asked.sessionId));
    } catch (error) {
      return failed(asHandedOver(error));
    }
  }

  private mayTalkTo(name: string, caller: Caller): boolean {
    try {
      const agent = agentSettings(this.settings.current, name);
      if (agent === undefined) return false;
      refuseAgent(agent, caller, caller.boundUserId ?? caller.tokenName);
      return true;
    } catch {
      return false;
    }
  }

  private descriptionOf(name: string): string {
    const described = agentSettings(this.settings.current, name)?.description ?? '';
    const asks = `Asks the agent "${name}" and waits for its answer.`;
    return described === '' ? asks : `${asks} ${described}`;
  }
}

async function answered({ sessionId, watched }: AskedTurn, gone: AbortSignal): Promise<CallToolResult> {
  const leave = (): void => watched.fail(new CallerGone());
  gone.addEventListener('abort', leave, { once: true });
  if (gone.aborted) leave();
  try {
    return succeeded(sessionId, await watched.answer);
  } catch (error) {
    throw error === watched.failure ? error : asHandedOver(error);
  } finally {
    gone.removeEventListener('abort', leave);
  }
}

export interface CallTerms {
  readonly asker: Asker;
  readonly messageId: string;
  readonly listener: ProgressListener | undefined;
  /** Aborted when nobody waits for the answer any more. */
  readonly gone: AbortSignal;
}

function questionOf(args: unknown): Pick<Question, 'message' | 'sessionId'> {
  const given = (typeof args === 'object' && args !== null ? args : {}) as Record<string, unknown>;
  const { message, session_id: sessionId } = given;
  const problems: FieldProblem[] = Object.keys(given)
    .filter((name) => !FIELDS.includes(name))
    .map((name) => ({ path: name.slice(0, 64), message: `is not known; send ${FIELDS.join(' and ')}` }));
  const isText = typeof message === 'string' && message.trim() !== '';
  if (!isText || Buffer.byteLength(message) > MAX_MESSAGE_BYTES)
    problems.push({ path: 'message', message: 'must be text of 1 byte to 256 KiB' });
  if (sessionId !== undefined && typeof sessionId !== 'string')
    problems.push({ path: 'session_id', message: 'must be the id of a session' });
  BadFields.refuse(problems);
  return { message: String(message), sessionId: sessionId as string | undefined };
}

function succeeded(sessionId: string, { id, content, model, tokensUsed }: Message): CallToolResult {
  return {
    content: [{ type: 'text', text: content }],
    structuredContent: {
      ...{ session_id: sessionId, message_id: id, content, model, tokens_used: tokensUsed },
    },
  };
}
