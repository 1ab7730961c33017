import { z } from 'zod';
import { PluginProblem } from './plugin.js';

const MAX_DEFINITION_CHARACTERS = 131_072;

const description = z.object({
  tools: z
    .array(
      z.object({
        name: z.string(),
        description: z.string().default(''),
        inputSchema: z.record(z.string(), z.unknown()).default({ type: 'object' }),
        annotations: z
          .object({ readOnlyHint: z.boolean().optional(), destructiveHint: z.boolean().optional() })
          .default({}),
      }),
    )
    .max(64),
});

const result = z.object({
  content: z.array(z.object({ type: z.string(), text: z.string().optional() })),
  isError: z.boolean().default(false),
});

/** A tool as its plugin describes it. */
export type DescribedTool = z.output<typeof description>['tools'][number];

/** Parses the output of `describe`, which must list exactly the tools of `capabilities`. Throws `PluginProblem`. */
export function parseTools(text: string, capabilities: readonly string[]): readonly DescribedTool[] {
  const parsed = description.safeParse(jsonOf(text));
  if (!parsed.success)
    throw new PluginProblem('its description is not {"tools": [{"name", "description", "inputSchema"}]}');
  const { tools } = parsed.data;
  const large = tools.find((tool) => JSON.stringify(tool).length > MAX_DEFINITION_CHARACTERS);
  if (large !== undefined) throw new PluginProblem('the description of a tool is too long');
  const described = new Set(tools.map(({ name }) => `tool:${name}`));
  const declared = new Set(capabilities);
  const undeclared = [...described].find((name) => !declared.has(name));
  if (undeclared !== undefined) {
    throw new PluginProblem(
      `it describes "${undeclared.slice(0, 70)}", which is not among the capabilities of plugin.toml`,
    );
  }
  const missing = [...declared].find((name) => !described.has(name));
  if (missing !== undefined)
    throw new PluginProblem(`plugin.toml names "${missing}", which it does not describe`);
  if (described.size < tools.length) throw new PluginProblem('it describes a tool twice');
  return tools;
}

/** The text in the output of `call`. Throws `PluginProblem` for output of another form, and for a result with `isError`. */
export function textOf(output: string): string {
  const parsed = result.safeParse(jsonOf(output));
  if (!parsed.success)
    throw new PluginProblem('the plugin did not answer {"content": [{"type": "text", "text"}]}');
  const { content, isError } = parsed.data;
  const text = content.map((part) => part.text ?? `[${part.type.slice(0, 32)}]`).join('\n');
  if (isError) throw new PluginProblem(text);
  return text;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
