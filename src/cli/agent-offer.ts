import { join } from 'node:path';
import type { INestApplicationContext } from '@nestjs/common';
import { type AgentOverview, readAgents } from '../areas/agents/agent-overview.js';
import { missingReferences, missingTargets, type Offer } from '../areas/agents/missing-references.js';
import { Configuration } from '../areas/config/configuration.js';
import { MEMORY_TOOLS } from '../areas/memory/memory-tools.js';
import { providerChoice } from '../areas/models/provider-setting.js';
import { pluginNames } from '../areas/plugins/plugin-package.js';
import { SKILL_READ } from '../areas/skills/skill-read.tool.js';
import { rootsOf } from '../areas/skills/skill-roots.js';
import { NO_SKILLS, scanSkills } from '../areas/skills/skill-scan.js';
import { Database } from '../platform/database/database.js';
import { agentNames, agentSettings } from '../platform/settings/agent-settings.js';
import { Environment } from '../platform/settings/environment.js';
import type { GatewaySettings } from '../platform/settings/settings.schema.js';

/**
 * What agents may name according to the settings, without starting a tool server or a plugin: what those may offer does
 * not count as missing.
 */
async function offerOf(settings: GatewaySettings): Promise<Offer> {
  const servers = Object.entries(settings.mcp.servers).flatMap(([name, { enabled }]) =>
    enabled ? [name] : [],
  );
  const { directory } = settings.plugins;
  const plugins = await pluginNames(directory).catch((): readonly string[] => []);
  const folders = plugins.map((name) => ({ name, folder: join(directory, name) }));
  const { skills } = settings.skills.enabled
    ? await scanSkills(rootsOf(settings, folders), settings.skills, NO_SKILLS)
    : NO_SKILLS;
  return {
    tools: [...MEMORY_TOOLS, SKILL_READ],
    awaited: [...servers, ...plugins],
    skills: skills.map(({ name }) => name),
  };
}

/** Missing things that agents and settings name, a sentence for each, with the key to correct. */
export async function agentWarnings(settings: GatewaySettings): Promise<readonly string[]> {
  const offer = await offerOf(settings);
  const named = agentNames(settings).flatMap((name) => {
    const agent = agentSettings(settings, name);
    const section = name === 'default' ? 'agent' : `agents.${name}`;
    const missing = agent === undefined ? [] : missingReferences(agent, offer);
    return missing.map((sentence) => `${section}.${sentence}`);
  });
  return [...named, ...missingTargets(settings)];
}

/**
 * The agents according to the settings and the changes made at run time, and what they are doing according to the
 * database.
 */
export async function agentsIn(app: INestApplicationContext): Promise<readonly AgentOverview[]> {
  const { settings } = app.get(Configuration).live.snapshot;
  return readAgents(app.get(Database), settings, {
    offer: await offerOf(settings),
    defaultModel: providerChoice(app.get(Environment), { settings }).model,
  });
}
