import { readFileSync } from 'node:fs';
import type { GatewaySettings } from './settings.schema.js';

/** The agent that `[agent]` and `[provider]` describe; it always exists. */
export const DEFAULT_AGENT = 'default';

/** The longest system prompt, in bytes. */
const MAX_PROMPT_BYTES = 65_536;

type Shared = GatewaySettings['agent'];

/** The settings of one agent; those that it leaves out come from `[agent]`. */
export interface AgentSettings {
  readonly name: string;
  readonly description: string;
  readonly systemPrompt: string;
  /** `model` or `provider/model`, the preferred one first; without entries, the default model of `[provider]`. */
  readonly models: readonly string[];
  readonly reasoning: Shared['reasoning'];
  /** Whether callers are shown the model's thoughts. */
  readonly showReasoning: boolean;
  readonly maxOutputTokens: number;
  readonly temperature: number | undefined;
  readonly topP: number | undefined;
  readonly stop: readonly string[];
  /** `auto`, `none`, `required`, the name of a tool, or empty. */
  readonly toolChoice: string;
  readonly tools: { readonly allow: readonly string[]; readonly deny: readonly string[] };
  /** Patterns of names. */
  readonly skills: readonly string[];
  readonly memory: boolean;
  /** Ids of users, `role:<name>`, or `*`. */
  readonly users: readonly string[];
}

/** Built once for each state of the configuration. */
const known = new WeakMap<GatewaySettings, Map<string, AgentSettings>>();

/** `default`, then the others in the order of the settings. */
export function agentNames({ agents }: Pick<GatewaySettings, 'agents'>): readonly string[] {
  return [DEFAULT_AGENT, ...Object.keys(agents)];
}

/** Undefined for an agent that is not configured. Throws when its `system_prompt_file` cannot be read. */
export function agentSettings(settings: GatewaySettings, name: string): AgentSettings | undefined {
  let agents = known.get(settings);
  if (agents === undefined) {
    agents = new Map();
    known.set(settings, agents);
  }
  const made = agents.get(name);
  if (made !== undefined) return made;
  const agent = makeAgent(settings, name);
  if (agent !== undefined) agents.set(name, agent);
  return agent;
}

/** The whole text of a `system_prompt_file`. Throws an `Error` that says what is wrong with it. */
function readPromptFile(path: string): string {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Error(`names a file that cannot be read (${code ?? 'unknown'})`, { cause: error });
  }
  if (bytes.length > MAX_PROMPT_BYTES) throw new Error('names a file of more than 64 KiB');
  return bytes.toString('utf8').trim();
}

function makeAgent(settings: GatewaySettings, name: string): AgentSettings | undefined {
  const { agent: shared, agents } = settings;
  const own = name === DEFAULT_AGENT ? {} : Object.hasOwn(agents, name) ? agents[name] : undefined;
  if (own === undefined) return undefined;
  // A name without a value does not count, even as an explicit undefined.
  const set = Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined));
  const all: Shared & { readonly system_prompt_file?: string } = { ...shared, ...set };
  const file = all.system_prompt_file ?? '';
  return {
    name,
    description: all.description,
    systemPrompt: file === '' ? all.system_prompt : readPromptFile(file),
    models: all.models,
    reasoning: all.reasoning,
    showReasoning: all.show_reasoning,
    maxOutputTokens: all.max_output_tokens,
    temperature: all.temperature,
    topP: all.top_p,
    stop: all.stop,
    toolChoice: all.tool_choice,
    tools: all.tools,
    skills: all.skills,
    memory: all.memory,
    users: all.users,
  };
}
