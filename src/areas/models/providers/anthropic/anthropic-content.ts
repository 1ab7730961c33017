import type Anthropic from '@anthropic-ai/sdk';

/**
 * What an assistant message with tool calls must look like when it is sent back within its turn: every block as it
 * came, thinking included, and the tools it was written under. It lives as long as the turn, never in the database.
 */
export class AnthropicContent {
  constructor(
    readonly model: string,
    readonly blocks: readonly Anthropic.ContentBlockParam[],
    readonly tools: readonly Anthropic.ToolUnion[],
  ) {}
}
