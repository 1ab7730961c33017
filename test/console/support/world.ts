import { resolve } from 'node:path';
import { channelEnv } from '../../harness/channels.js';
import { eventually } from '../../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../../harness/gateway.js';
import { HookReceiver } from '../../harness/hook-receiver.js';
import { McpBench, scripted, serverB, shared } from '../../harness/mcp.js';
import { newSession } from '../../harness/turn-stream.js';
import { TIMEOUT_MS } from './browser.js';

const SETTINGS = `
[agent]
tool_approval = "ask"
tool_approval_timeout_ms = 86400000
tool_timeout_ms = 3600000
turn_timeout_ms = 86400000
[agents.support]
description = "Answers customers"
system_prompt = "You answer customers."
[tools.approval]
never = ["tools__echo", "tools__pid", "memory_*"]
`;

/** A browser on a busy machine sends many requests at once; waiting for a connection is not an error. */
const PATIENT = { GATEWAY__DATABASE__CONNECT_TIMEOUT_MS: String(TIMEOUT_MS) };

const SHIPPED_PLUGINS = { GATEWAY__PLUGINS__DIRECTORY: resolve('plugins') };

/** A gateway with something on every page: things that work, fail and wait. */
export interface World {
  readonly gateway: TestGateway;
  readonly receiver: HookReceiver;
  /** A session with answers and tool calls. */
  readonly sessionId: string;
  /** A session whose tool call waits for a person. */
  readonly askingId: string;
  url(path: string, profile?: 'a' | 'b'): string;
  stop(): Promise<void>;
}

export async function openWorld(text = 'Hello there'): Promise<World> {
  const bench = await McpBench.make(
    { tools: shared(scripted(`console-${process.pid}`)), broken: scripted(`broken-${process.pid}`, 'crash') },
    SETTINGS,
  );
  const receiver = await HookReceiver.open();
  const broken = channelEnv('helpdesk', {
    type: 'telegram',
    token: '123456:not-a-token',
    api_url: `http://127.0.0.1:${new URL(receiver.url()).port}/none`,
  });
  const gateway = await startTestGateway({
    env: { ...bench.env, ...broken, ...PATIENT, ...SHIPPED_PLUGINS },
  });
  const soon = (check: () => Promise<void>): Promise<void> => eventually(check, TIMEOUT_MS);
  await soon(async () => expect((await serverB(gateway, 'tools'))?.status).toBe('connected'));
  await hooksOf(gateway, receiver);
  const sessionId = await talkedSession(gateway, text);
  const askingId = await newSession(gateway);
  await accept(gateway, askingId, '/call tools__erase {"text":"everything"}');
  await soon(async () => {
    const { body } = await gateway.admin.get<{ items: unknown[] }>('/approvals');
    expect(body.items).not.toHaveLength(0);
  });
  // Usage is summed up after the turns.
  await soon(async () => {
    const { body } = await gateway.admin.get<{ items: unknown[] }>('/usage?by=agent');
    expect(body.items).toContainEqual(expect.objectContaining({ agent: 'support' }));
  });
  await gateway.b.patch('/config', { agent: { max_turns: 40 } });
  // The audit page does not refresh by itself, and rows are sealed after the change.
  await soon(async () => {
    const { body } = await gateway.admin.get<{ items: unknown[] }>('/audit?action=config.changed');
    expect(body.items).not.toHaveLength(0);
  });
  return {
    gateway,
    receiver,
    sessionId,
    askingId,
    url: (path, profile = 'b') => `http://127.0.0.1:${gateway.started.ports[profile]}/console${path}`,
    stop: async () => {
      await gateway.stop();
      await receiver.close();
      await bench.clear();
    },
  };
}

async function hooksOf(gateway: TestGateway, receiver: HookReceiver): Promise<void> {
  receiver.behaviour = ({ path }) => (path.endsWith('/broken') ? 500 : 200);
  for (const path of ['/hook', '/broken'])
    await gateway.b.post('/hooks', { url: receiver.url(path), events: ['*'] });
}

async function talkedSession(gateway: TestGateway, text: string): Promise<string> {
  const { body } = await gateway.b.post<{ id: string }>('/sessions', {
    agent: 'support',
    user_id: 'ada',
    metadata: { customer: text },
  });
  for (const content of [text, `/call tools__echo ${JSON.stringify({ text })}`, '/tools'])
    await gateway.b.post(`/sessions/${body.id}/messages`, { content });
  return body.id;
}

/** Sends a message without waiting for its answer. */
export async function accept(gateway: TestGateway, sessionId: string, content: string): Promise<void> {
  const answer = await fetch(
    `http://127.0.0.1:${gateway.started.ports.b}/api/v1/sessions/${sessionId}/messages`,
    {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${gateway.token}`,
        'Content-Type': 'application/json',
        Prefer: 'respond-async',
      },
      body: JSON.stringify({ content }),
    },
  );
  expect(answer.status).toBe(202);
}
