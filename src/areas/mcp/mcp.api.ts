/** What others may ask of tool servers: how they are, and what keeps their processes apart. */
export { McpDirectory } from './mcp-directory.service.js';
export { McpServers } from './mcp-servers.service.js';
export { Sandbox } from './sandbox/sandbox.service.js';
