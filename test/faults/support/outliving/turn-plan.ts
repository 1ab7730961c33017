import { setTimeout as sleep } from 'node:timers/promises';
import type { Script } from '../../../harness/scripted-provider.js';
import { randomFrom } from '../chance.js';
import { callTools, say } from '../noting-model.js';

const MAX_CALLS = 5;
const MAX_CALL_MS = 3000;
const MAX_MODEL_MS = 500;
/** Share of the calls whose tool is listed as repeatable. */
const REPEATABLE = 0.15;
/** Share of the rounds in which the model asks for two calls at once. */
const PAIRS = 0.3;

interface PlannedCall {
  readonly tool: 'note' | 'again';
  /** Ends with the name of the tool. */
  readonly key: string;
}

/** What the model does with a message: rounds with zero to five calls in all, and then its answer. */
export interface TurnPlan {
  readonly rounds: readonly (readonly PlannedCall[])[];
  /** Milliseconds before the model says anything, and in the middle of its answer. */
  readonly modelMs: number;
}

/** Fully determined by the seed and the message, whichever replica asks and however often. */
export function planOf(seed: number, content: string): TurnPlan {
  const random = randomFrom(seed ^ hashOf(content));
  const rounds: PlannedCall[][] = [];
  const count = Math.floor(random() * (MAX_CALLS + 1));
  for (let n = 0; n < count; n += 1) {
    const tool = random() < REPEATABLE ? 'again' : 'note';
    const call = { tool, key: `${content}/${n} ${tool}` } as const;
    const [last] = rounds.slice(-1);
    if (last?.length === 1 && random() < PAIRS) last.push(call);
    else rounds.push([call]);
  }
  return { rounds, modelMs: random() * MAX_MODEL_MS };
}

/** How long a call of the tool takes. */
export function callMs(seed: number, key: string): number {
  return randomFrom(seed ^ hashOf(key))() * MAX_CALL_MS;
}

export function answerTo(content: string): string {
  return `This answers ${content}.`;
}

/** A model that follows the plan of each message, and counts how often it was asked for its answer. */
export class PlannedModel {
  readonly answers = new Map<string, number>();

  constructor(private readonly seed: number) {}

  readonly script: Script = async (response, { body }) => {
    const { messages } = body as unknown as Asked;
    const asked = messages.findLastIndex(({ role }) => role === 'user');
    const content = String(messages[asked]?.content);
    const { rounds, modelMs } = planOf(this.seed, content);
    const done = messages.slice(asked).filter(({ role }) => role === 'assistant').length;
    await sleep(modelMs);
    const next = rounds[done];
    if (next !== undefined) {
      const calls = next.map((call, index) => ({ ...call, id: `c${done}_${index}` }));
      return callTools(response, calls);
    }
    this.answers.set(content, (this.answers.get(content) ?? 0) + 1);
    const middle = 12;
    const answer = answerTo(content);
    await say(response, [answer.slice(0, middle), answer.slice(middle)], modelMs);
  };
}

interface Asked {
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
}

/** FNV-1a. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}
