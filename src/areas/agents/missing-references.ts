import { isAmong } from '../../common/text/name-pattern.js';
import { type AgentSettings, agentNames } from '../../platform/settings/agent-settings.js';
import type { GatewaySettings } from '../../platform/settings/settings.schema.js';
import { providerNames } from '../models/models.api.js';

/** What exists for agents to name. */
export interface Offer {
  /** Names of tools. */
  readonly tools: readonly string[];
  /** Tool servers and plugins that may offer more: those that are not available yet, or failed. */
  readonly awaited: readonly string[];
  /** Names of skills. */
  readonly skills: readonly string[];
}

type References = Pick<AgentSettings, 'tools' | 'skills' | 'toolChoice'>;

/** Values of `tool_choice` that name no tool. */
const CHOICES = new Set(['', 'auto', 'none', 'required']);

/**
 * Missing things that an agent names, a sentence for each: a rule that allows or denies nothing is more often a typing
 * error than foresight. What a server or plugin may still offer is not missing yet.
 */
export function missingReferences(
  { tools, skills, toolChoice }: References,
  offer: Offer,
): readonly string[] {
  const prefixes = offer.awaited.map(prefixOf);
  const isOffered = (pattern: string): boolean =>
    offer.tools.some((name) => isAmong(name, [pattern])) ||
    prefixes.some((prefix) => mayBegin(pattern, prefix));
  const rules = (['allow', 'deny'] as const).flatMap((rule) =>
    tools[rule]
      .filter((pattern) => !isOffered(pattern) && !isEverything(pattern))
      .map((pattern) => `tools.${rule}: "${pattern}" matches no tool.`),
  );
  const unread = skills
    .filter((pattern) => !isEverything(pattern) && !offer.skills.some((name) => isAmong(name, [pattern])))
    .map((pattern) => `skills: "${pattern}" matches no skill.`);
  const choice =
    CHOICES.has(toolChoice) || isOffered(toolChoice)
      ? []
      : [`tool_choice: there is no tool "${toolChoice}".`];
  return [...rules, ...choice, ...unread];
}

/**
 * What settings outside the agents name but does not exist, a sentence for each with its key: a budget or a price that
 * applies to nobody, and a role that may use none of the agents it names.
 */
export function missingTargets(
  settings: Pick<GatewaySettings, 'agents' | 'providers' | 'limits' | 'prices' | 'auth'>,
): readonly string[] {
  const agents = agentNames(settings);
  const providers = providerNames(settings);
  const isPriced = (key: string): boolean => providers.some((name) => key.startsWith(`${name}/`));
  const unknown = (key: string, names: readonly string[]): string[] =>
    names.filter((name) => !agents.includes(name)).map((name) => `${key}: there is no agent "${name}".`);
  const budgets = Object.keys(settings.limits.agents).flatMap((name) =>
    unknown(`limits.agents.${name}`, [name]),
  );
  const roles = Object.entries(settings.auth.jwt).flatMap(([issuer, { roles: granted }]) =>
    Object.entries(granted).flatMap(([role, { agents: named = [] }]) =>
      unknown(`auth.jwt.${issuer}.roles."${role}".agents`, named),
    ),
  );
  const prices = Object.keys(settings.prices)
    .filter((key) => !isPriced(key))
    .map((key) => `prices."${key}": is no "provider/model" of ${providers.join(', ')}.`);
  return [...budgets, ...roles, ...prices];
}

/** The beginning of the names of all tools of a server or plugin. */
function prefixOf(source: string): string {
  return `${source.replaceAll(/[^a-zA-Z0-9_-]/g, '_')}__`;
}

/** Whether a name with this prefix may fit the pattern. */
function mayBegin(pattern: string, prefix: string): boolean {
  const star = pattern.indexOf('*');
  if (star === -1) return pattern.startsWith(prefix);
  const head = pattern.slice(0, star);
  return head.startsWith(prefix) || prefix.startsWith(head);
}

/** It is right also where nothing exists. */
function isEverything(pattern: string): boolean {
  return pattern === '*';
}
