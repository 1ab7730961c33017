import { McpServer } from '@modelcontextprotocol/server';
import { serveLegacy } from './legacy-exchange.js';

/** The positions in the ids of what a call sends while it tells these progresses, and of its answer. */
async function positions(version: string, progresses: readonly number[]): Promise<number[]> {
  const server = new McpServer({ name: 'gateway', version: '1' }, { capabilities: { tools: {} } });
  server.server.setRequestHandler('tools/call', async (_request, { mcpReq }) => {
    for (const progress of progresses)
      await mcpReq.notify({
        method: 'notifications/progress',
        params: { progressToken: 'p', progress },
      });
    return { content: [] };
  });
  const params = { name: 'ask', arguments: {}, _meta: { progressToken: 'p' } };
  const parsedBody = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
  const request = new Request('http://127.0.0.1/mcp', {
    method: 'POST',
    headers: {
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      'mcp-protocol-version': version,
    },
    body: JSON.stringify(parsedBody),
  });
  const authInfo = { token: '', clientId: '', scopes: [] };
  const response = await serveLegacy(server, request, { parsedBody, authInfo, isResumable: true });
  const ids = (await response.text()).match(/^id: .*$/gm) ?? [];
  return ids.map((id) => Number(id.split('.').at(-1)));
}

test.each([
  ['2025-11-25', [0, 40, 95, 96]],
  ['2025-06-18', [40, 95, 96]],
])(
  'the id of a progress holds its number, whether the stream of %s begins with an empty event or not',
  async (version, expected) => {
    expect(await positions(version, [40, 95])).toEqual(expected);
  },
);

test('an answer without progress comes after the beginning', async () => {
  expect(await positions('2025-06-18', [])).toEqual([1]);
});
