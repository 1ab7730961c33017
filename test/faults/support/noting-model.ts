import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { wires } from '../../harness/provider-wires.js';
import { beginStream, type Script } from '../../harness/scripted-provider.js';

interface Asked {
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
}

/** A model that has every message noted by the tool `ledger__note`, then says so; each step takes up to `maxMs`. */
export function notingModel(random: () => number, maxMs: number): Script {
  return async (response, { body }) => {
    const { messages } = body as unknown as Asked;
    const last = messages.at(-1);
    await sleep(random() * maxMs);
    if (last?.role === 'tool') await say(response, random() * maxMs);
    else callNote(response, String(last?.content));
  };
}

async function say(response: ServerResponse, pauseMs: number): Promise<void> {
  const [wire] = wires;
  if (wire === undefined) throw new Error('There is no wire.');
  beginStream(response, ...wire.opening, wire.text('It is '));
  await sleep(pauseMs);
  beginStream(response, wire.text('noted.'), ...wire.closing);
  response.end();
}

function callNote(response: ServerResponse, key: string): void {
  const call = { index: 0, id: 'c1', function: { name: 'ledger__note', arguments: JSON.stringify({ key }) } };
  const choice = (delta: object, finish_reason: string | null) => ({
    model: 'm',
    choices: [{ index: 0, delta, finish_reason }],
  });
  const parts = [choice({ tool_calls: [call] }, null), choice({}, 'tool_calls'), 'data: [DONE]\n\n'];
  beginStream(response, ...parts);
  response.end();
}
