const NO_RESOURCES = 'resources of tool servers are read by their tools: this server declares none';
const NO_PROMPTS =
  'prompts of tool servers are asked for in messages, as /server-prompt: this server declares none';
const NO_LOGGING = 'sends its client no log lines: those are for operators';
const NO_QUESTIONS =
  'asks its client nothing: questions of tools are answered in sessions and by operators, samples by the models here';

/**
 * Every server scenario of `@modelcontextprotocol/conformance`: `passes`, or why it does not apply to this server.
 */
export const SERVER_SCENARIOS: Readonly<Record<string, string>> = {
  'server-initialize': 'passes',
  ping: 'passes',
  'tools-list': 'passes',
  'tools-call-simple-text': 'passes',
  'tools-call-image': 'passes',
  'tools-call-audio': 'passes',
  'tools-call-embedded-resource': 'passes',
  'tools-call-mixed-content': 'passes',
  'tools-call-error': 'passes',
  'json-schema-2020-12': 'passes',
  'server-sse-polling':
    'wants a tool of a fixed name that ends its own stream; mcp-server.spec.ts cuts those of the agents',
  'server-sse-multiple-streams': 'passes',
  'dns-rebinding-protection': 'passes',
  'tools-call-with-progress':
    'wants a tool of a fixed name that tells progress; here that are the agents, as mcp-server.spec.ts shows',
  'tools-call-with-logging': NO_LOGGING,
  'tools-call-sampling': NO_QUESTIONS,
  'tools-call-elicitation': NO_QUESTIONS,
  'elicitation-sep1034-defaults': NO_QUESTIONS,
  'elicitation-sep1330-enums': NO_QUESTIONS,
  'logging-set-level': NO_LOGGING,
  'completion-complete': 'completes arguments of prompts and resource templates, of which there are none',
  'resources-list': NO_RESOURCES,
  'resources-read-text': NO_RESOURCES,
  'resources-read-binary': NO_RESOURCES,
  'resources-templates-read': NO_RESOURCES,
  'resources-subscribe': NO_RESOURCES,
  'resources-unsubscribe': NO_RESOURCES,
  'prompts-list': NO_PROMPTS,
  'prompts-get-simple': NO_PROMPTS,
  'prompts-get-with-args': NO_PROMPTS,
  'prompts-get-embedded-resource': NO_PROMPTS,
  'prompts-get-with-image': NO_PROMPTS,
};

/**
 * The results of the MCP project's conformance suite for the server. The spec checks that every scenario is listed.
 */
export function scenarioTable(): string {
  const lines = Object.entries(SERVER_SCENARIOS).map(([name, decided]) =>
    decided === 'passes' ? `| ${name} | passes |` : `| ${name} | does not apply: ${decided} |`,
  );
  const by = '[e2e/mcp-server-conformance](../test/e2e/mcp-server-conformance.spec.ts)';
  return `## \`@modelcontextprotocol/conformance\` (npm), server scenarios\n\nRun by ${by}.\n\n| Scenario | |\n| --- | --- |\n${lines.join('\n')}\n`;
}
