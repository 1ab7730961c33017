import { isAmong } from '../../common/text/name-pattern.js';
import type { AgentSettings } from '../../platform/settings/agent-settings.js';

/** What there is that an agent may name. */
export interface Offer {
  /** Names of tools. */
  readonly tools: readonly string[];
  /** Tool servers and plugins that may offer more: those that are not there yet, or failed. */
  readonly awaited: readonly string[];
  /** Names of skills. */
  readonly skills: readonly string[];
}

type References = Pick<AgentSettings, 'tools' | 'skills' | 'toolChoice'>;

/** A choice that is no tool. */
const CHOICES = new Set(['', 'auto', 'none', 'required']);

/**
 * What an agent names that is not there, a sentence for each: a rule that allows or denies nothing is a slip of the pen
 * more often than it is foresight. What an awaited server or plugin could offer is not missing yet.
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

/** With which the names of all tools of a server or plugin begin. */
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

/** It is right also where there is nothing. */
function isEverything(pattern: string): boolean {
  return pattern === '*';
}
