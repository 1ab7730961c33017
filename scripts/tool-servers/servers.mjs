/** Any key works: the servers list their tools without using it. */
const KEY = 'a-key-that-opens-nothing';

/**
 * The tool servers to try: the package, which of its programs to start and how, and for some a call that needs
 * neither an account nor the network. `FOLDER` is replaced by a temporary folder.
 */
export const SERVERS = {
  everything: {
    from: '@modelcontextprotocol/server-everything',
    call: ['echo', { message: 'heliotrope' }, /heliotrope/],
  },
  filesystem: {
    from: '@modelcontextprotocol/server-filesystem',
    args: ['FOLDER'],
    call: ['list_directory', { path: 'FOLDER' }, /note\.txt/],
  },
  graph: { from: '@modelcontextprotocol/server-memory', call: ['read_graph', {}, /entities/] },
  thinking: {
    from: '@modelcontextprotocol/server-sequential-thinking',
    call: [
      'sequentialthinking',
      { thought: 'Hm.', nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 },
      /thoughtNumber/,
    ],
  },
  github: { from: '@modelcontextprotocol/server-github' },
  puppeteer: { from: '@modelcontextprotocol/server-puppeteer' },
  playwright: { from: '@playwright/mcp', args: ['--headless'] },
  devtools: { from: 'chrome-devtools-mcp', bin: 'chrome-devtools-mcp', args: ['--headless'] },
  context7: { from: '@upstash/context7-mcp' },
  notion: { from: '@notionhq/notion-mcp-server', env: { NOTION_TOKEN: KEY } },
  firecrawl: { from: 'firecrawl-mcp', env: { FIRECRAWL_API_KEY: KEY } },
  tavily: { from: 'tavily-mcp', env: { TAVILY_API_KEY: KEY } },
  exa: { from: 'exa-mcp-server', env: { EXA_API_KEY: KEY } },
  brave: {
    from: '@brave/brave-search-mcp-server',
    env: { BRAVE_API_KEY: KEY, BRAVE_MCP_TRANSPORT: 'stdio' },
  },
  kubernetes: { from: 'mcp-server-kubernetes' },
  desktop: { from: '@wonderwhy-er/desktop-commander', bin: 'desktop-commander' },
  mongodb: { from: 'mongodb-mcp-server', env: { MDB_MCP_TELEMETRY: 'disabled' } },
  charts: { from: '@antv/mcp-server-chart' },
  figma: { from: 'figma-developer-mcp', args: ['--stdio'], env: { FIGMA_API_KEY: KEY } },
  sentry: { from: '@sentry/mcp-server', env: { SENTRY_ACCESS_TOKEN: KEY, SENTRY_HOST: 'sentry.invalid' } },
  fastmcp: { from: 'fastmcp', script: 'fastmcp-server.mjs', call: ['add', { a: 40, b: 2 }, /42/] },
};
