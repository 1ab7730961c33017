import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { wires } from '../../harness/provider-wires.js';
import { beginStream, type Script } from '../../harness/scripted-provider.js';

interface Asked {
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
}

/** A model that has the tool `ledger__note` note every message, then says so. Each step takes up to `maxMs`. */
export function notingModel(random: () => number, maxMs: number): Script {
  return async (response, { body }) => {
    const { messages } = body as unknown as Asked;
    const last = messages.at(-1);
    await sleep(random() * maxMs);
    if (last?.role === 'tool') await say(response, ['It is ', 'noted.'], random() * maxMs);
    else callTools(response, [{ id: 'c1', tool: 'note', key: String(last?.content) }]);
  };
}

/** Answers in two pieces. */
export async function say(
  response: ServerResponse,
  [first, second]: readonly [string, string],
  pauseMs: number,
): Promise<void> {
  const [wire] = wires;
  if (wire === undefined) throw new Error('There is no wire.');
  beginStream(response, ...wire.opening, wire.text(first));
  await sleep(pauseMs);
  beginStream(response, wire.text(second), ...wire.closing);
  response.end();
}

export interface LedgerCall {
  readonly id: string;
  readonly tool: 'note' | 'again';
  readonly key: string;
}

/** Calls tools of the ledger, all at once. */
export function callTools(response: ServerResponse, calls: readonly LedgerCall[]): void {
  const tool_calls = calls.map(({ id, tool, key }, index) => ({
    index,
    id,
    function: { name: `ledger__${tool}`, arguments: JSON.stringify({ key }) },
  }));
  const choice = (delta: object, finish_reason: string | null) => ({
    model: 'm',
    choices: [{ index: 0, delta, finish_reason }],
  });
  beginStream(response, choice({ tool_calls }, null), choice({}, 'tool_calls'), 'data: [DONE]\n\n');
  response.end();
}
