import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CHANNEL_STATUSES } from '../../src/areas/channels/channel.port.js';
import { DELIVERY_STATUSES } from '../../src/areas/hooks/delivery.js';
import { MCP_SERVER_STATUSES } from '../../src/areas/mcp/mcp-server.js';
import { SESSION_STATUSES } from '../../src/areas/sessions/session-status.js';
import { TURN_STATUSES } from '../../src/areas/turns/turn-status.js';

const PAGE = readFileSync(join(__dirname, '../../docs/glossary.md'), 'utf8');

/** The states in the diagram under a heading, without the start and the end. */
function statesOf(heading: string): readonly string[] {
  const diagram = PAGE.split(`### ${heading}\n`)[1]?.split('```')[1] ?? '';
  const ends = [...diagram.matchAll(/^ +(\S+) --> (\S+?):? *(?::.*)?$/gm)].flatMap(([, from, to]) => [
    from,
    to,
  ]);
  return [...new Set(ends)].filter((state): state is string => state !== undefined && state !== '[*]').sort();
}

test.each([
  ['Session', SESSION_STATUSES],
  ['Turn', TURN_STATUSES],
  ['Delivery', DELIVERY_STATUSES],
  ['Channel', CHANNEL_STATUSES],
  ['Server connection', MCP_SERVER_STATUSES],
])('the diagram of a %s names the states of the code', (heading, states) => {
  expect(statesOf(heading)).toEqual([...states].sort());
});

test('the glossary defines at least thirty words, each once', () => {
  const words = [...PAGE.matchAll(/^\| \*\*(.+?)\*\* \|/gm)].map(([, word]) => word);
  expect(words.length).toBeGreaterThanOrEqual(30);
  expect(words).toEqual([...new Set(words)]);
});
