// A stdio server written with FastMCP. The test copies it beside the installed packages.
import { FastMCP } from 'fastmcp';
import { z } from 'zod';

const server = new FastMCP({ name: 'adder', version: '1.0.0' });
server.addTool({
  name: 'add',
  description: 'Adds two numbers.',
  parameters: z.object({ a: z.number(), b: z.number() }),
  annotations: { readOnlyHint: true },
  execute: async ({ a, b }, { log, reportProgress }) => {
    log.info('adding');
    await reportProgress({ progress: 1, total: 1 });
    return String(a + b);
  },
});
server.addPrompt({
  name: 'sum',
  description: 'Asks for a sum.',
  arguments: [{ name: 'numbers', required: true }],
  load: async ({ numbers }) => `Add up ${numbers}.`,
});
server.addResource({
  uri: 'adder://about',
  name: 'About',
  mimeType: 'text/plain',
  load: async () => ({ text: 'It adds.' }),
});
await server.start({ transportType: 'stdio' });
