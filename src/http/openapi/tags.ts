/** Descriptions of the tags; a tag is the first segment of a path below `/api/v1`. */
export const TAGS: Readonly<Record<string, string>> = {
  sessions:
    'Conversations with an agent: create, list, inspect and end them, send messages and read the history. ' +
    'A session can also be followed over a WebSocket at `/ws/sessions/{id}`: see `/asyncapi.json`.',
  channels:
    'The messaging connections through which people write. Programs post to a channel of the type `webhook` at ' +
    '`/inbound/{channel}`, signed instead of with a token: see `/asyncapi.json`.',
  hooks: 'Webhooks: URLs to which events are delivered, signed as Standard Webhooks describes.',
  mcp: 'The tool servers (Model Context Protocol) whose tools the agent may call.',
  plugins: 'WebAssembly modules that extend the gateway.',
  skills: 'Instructions that the agent reads when a task calls for them.',
  status: 'What runs here, and whether it is well.',
  health: 'Whether the gateway is well, for probes: needs no token.',
  info: 'What runs here.',
  metrics: 'Figures for Prometheus.',
  config: 'The configuration in force. Secrets are never shown.',
  logs: 'What the gateway wrote to its log, on all replicas.',
};

/** The same of the operators' API: the first segment below `/admin/v1`. */
export const ADMIN_TAGS: Readonly<Record<string, string>> = {
  approvals: 'Tool calls that wait for a person.',
  agents: 'The agents that answer here, and how their models do.',
  audit: 'Who did what, from where, and how it ended.',
  questions: 'What tools ask people while they run.',
  console: 'Signing in to the browser console.',
  me: 'What the token of the request may do.',
  channels: 'The connections through which people write, and how they do.',
  config: 'What was changed at run time.',
  deliveries: 'What webhooks were sent, and what became of it.',
  hooks: 'Webhooks, and how they do.',
  mcp: 'Tool servers, their connections, and tools in quarantine.',
  overview: 'Whether all is well, what happens, and what needs a person.',
  sessions: 'Sessions, found by their id, user, agent, channel, status and time.',
  tokens: 'API tokens: who may call, what for, and until when.',
  turns: 'Turns with their calls of models and tools.',
  usage: 'What turns used and cost.',
};

interface PathParameter {
  readonly description: string;
  /** A value that works on a new gateway. Ids have none: the gateway generates them. */
  readonly example?: string;
}

/** The path parameters `{id}` and `{name}`, by the area of the path. */
export const PATH_PARAMETERS: Readonly<Record<string, PathParameter>> = {
  'sessions.id': { description: 'The id of the session, as it was given when the session was created' },
  'hooks.id': { description: 'The id of the webhook, as it was given when the webhook was registered' },
  'channels.name': { description: 'The name of the channel', example: 'api' },
  'mcp.name': { description: 'The name of the tool server in the configuration' },
  'approvals.id': {
    description: 'The id of the approval, as the list and the events of the session have it',
  },
  'questions.id': {
    description: 'The id of the question, as the list and the events of the session have it',
  },
  'tokens.id': { description: 'The id of the token, as it was given when the token was created' },
  'turns.id': { description: 'The id of the turn, as lists and events have it' },
  'deliveries.id': { description: 'The id of the delivery, as the list has it' },
  'plugins.name': { description: 'The name of the plugin' },
};
