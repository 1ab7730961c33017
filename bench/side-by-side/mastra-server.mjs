// Mastra with its own memory in libsql, for the comparison in bench/README.md. It runs in a separate folder where its
// packages are installed; this project does not depend on them.
import { serve } from '@hono/node-server';
import { Agent } from '@mastra/core/agent';
import { Mastra } from '@mastra/core/mastra';
import { MastraServer } from '@mastra/hono';
import { LibSQLStore } from '@mastra/libsql';
import { Memory } from '@mastra/memory';
import { Hono } from 'hono';

const storage = new LibSQLStore({ id: 'bench', url: 'file:./bench.db' });
const bench = new Agent({
  id: 'bench',
  name: 'bench',
  instructions: 'You are a helpful assistant.',
  model: { id: 'custom/bench', url: 'http://127.0.0.1:18100/v1', apiKey: 'none' },
  memory: new Memory({ storage, options: { lastMessages: 10 } }),
});
const app = new Hono();
const mastra = new Mastra({ agents: { bench }, storage, logger: false });
await new MastraServer({ app, mastra }).init();
serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 18200 }, () => console.log(`pid ${process.pid}`));
