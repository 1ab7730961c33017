import { z } from 'zod';
import { agentSection } from './sections/agent.section.js';
import { channelsSection } from './sections/channels.section.js';
import { databaseSection } from './sections/database.section.js';
import { gatewaySection } from './sections/gateway.section.js';
import { hooksSection } from './sections/hooks.section.js';
import { limitsSection } from './sections/limits.section.js';
import { loggingSection } from './sections/logging.section.js';
import { mcpSection } from './sections/mcp.section.js';
import { memorySection } from './sections/memory.section.js';
import { multimodalSection } from './sections/multimodal.section.js';
import { outboundSection } from './sections/outbound.section.js';
import { pluginsSection } from './sections/plugins.section.js';
import { providerSection } from './sections/provider.section.js';
import { rateLimitsSection } from './sections/rate-limits.section.js';
import { securitySection } from './sections/security.section.js';
import { skillsSection } from './sections/skills.section.js';
import { streamingSection } from './sections/streaming.section.js';
import { toolsSection } from './sections/tools.section.js';

export { keyMarks } from './key-marks.js';

/**
 * Everything that can be set; the sections are in `sections/`. Keys are written as in the file. A key is a number, a
 * boolean, text, an enum, a list or a table of text; a collection of named things is a `z.record` of a strict object.
 */
export const settingsSchema = z.strictObject({
  gateway: gatewaySection.prefault({}),
  agent: agentSection.prefault({}),
  provider: providerSection.prefault({}),
  memory: memorySection.prefault({}),
  rate_limits: rateLimitsSection.prefault({}),
  limits: limitsSection.prefault({}),
  logging: loggingSection.prefault({}),
  database: databaseSection.prefault({}),
  hooks: hooksSection.prefault({}),
  streaming: streamingSection.prefault({}),
  multimodal: multimodalSection.prefault({}),
  outbound: outboundSection.prefault({}),
  security: securitySection.prefault({}),
  channels_config: channelsSection,
  mcp: mcpSection.prefault({}),
  plugins: pluginsSection.prefault({}),
  skills: skillsSection.prefault({}),
  tools: toolsSection.prefault({}),
});

export type GatewaySettings = z.output<typeof settingsSchema>;
