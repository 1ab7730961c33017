import { estimatedTokens, type ModelTool } from '../../models/models.api.js';

const knownToolTokens = new WeakMap<ModelTool['inputSchema'], number>();

/** Estimated tokens of the tools that are offered. A tool server may offer hundreds, whose schemas stay the same objects. */
export function toolTokens(tools: readonly ModelTool[]): number {
  return tools.reduce((sum, tool) => {
    const known = knownToolTokens.get(tool.inputSchema);
    const tokens = known ?? estimatedTokens(JSON.stringify(tool));
    if (known === undefined) knownToolTokens.set(tool.inputSchema, tokens);
    return sum + tokens;
  }, 0);
}
