import { z } from 'zod';
import {
  agentSection,
  memorySection,
  multimodalSection,
  providerSection,
  toolsSection,
  turnsSection,
} from './sections/agent.section.js';
import { agentsSection, providersSection } from './sections/agents.section.js';
import { authSection } from './sections/auth.section.js';
import { channelsSection } from './sections/channels.section.js';
import { gatewaySection, streamingSection } from './sections/gateway.section.js';
import { limitsSection, rateLimitsSection } from './sections/limits.section.js';
import { mcpSection, mcpServerSection } from './sections/mcp.section.js';
import { pricesSection, usageSection } from './sections/money.section.js';
import {
  databaseSection,
  hooksSection,
  loggingSection,
  outboundSection,
  securitySection,
  tracingSection,
} from './sections/operation.section.js';
import { pluginsSection } from './sections/plugins.section.js';
import { skillsSection } from './sections/skills.section.js';

/**
 * Everything that can be set; the sections are in `sections/`. Keys are written as in the file. A key is a number, a
 * boolean, text, an enum, a list or a table of text; a collection of named things is a `z.record` of a strict object.
 */
export const settingsSchema = z.strictObject({
  gateway: gatewaySection.prefault({}),
  agent: agentSection.prefault({}),
  provider: providerSection.prefault({}),
  providers: providersSection,
  agents: agentsSection,
  memory: memorySection.prefault({}),
  rate_limits: rateLimitsSection.prefault({}),
  limits: limitsSection.prefault({}),
  prices: pricesSection,
  usage: usageSection.prefault({}),
  logging: loggingSection.prefault({}),
  database: databaseSection.prefault({}),
  hooks: hooksSection.prefault({}),
  tracing: tracingSection.prefault({}),
  streaming: streamingSection.prefault({}),
  multimodal: multimodalSection.prefault({}),
  outbound: outboundSection.prefault({}),
  security: securitySection.prefault({}),
  channels_config: channelsSection,
  auth: authSection.prefault({}),
  mcp: mcpSection.prefault({}),
  mcp_server: mcpServerSection.prefault({}),
  plugins: pluginsSection.prefault({}),
  skills: skillsSection.prefault({}),
  tools: toolsSection.prefault({}),
  turns: turnsSection.prefault({}),
});

export type GatewaySettings = z.output<typeof settingsSchema>;
