import { Injectable, type OnModuleInit } from '@nestjs/common';
import { sentenceOf } from '../../../common/errors/error-text.js';
import {
  type PromptAddition,
  type PromptQuestion,
  type PromptSource,
  PromptSources,
  safeToolName,
  type ToolContext,
  ToolPolicy,
} from '../../tools/tools.api.js';
import { McpServers } from '../mcp-servers.service.js';
import { type AskedPrompt, askedPrompt } from './prompt-command.js';
import { PROMPT_TOOL, type ServerPrompt } from './server-prompt.js';

/** A connection of the user may have to be opened first. */
const MAX_MS = 20_000;
const MAX_CHARACTERS = 100_000;

/**
 * Gives the model the prompt of a tool server that a message asks for as `/server-prompt` (docs/mcp.md, Prompts). What cannot be
 * had is told to the model, so that the person learns of it.
 */
@Injectable()
export class PromptCommands implements PromptSource, OnModuleInit {
  readonly name = 'prompts of tool servers';
  readonly maxMs = MAX_MS;

  constructor(
    private readonly servers: McpServers,
    private readonly sources: PromptSources,
    private readonly policy: ToolPolicy,
  ) {}

  onModuleInit(): void {
    this.sources.add(this);
  }

  additionFor(
    { context, content }: PromptQuestion,
    signal: AbortSignal,
  ): Promise<PromptAddition> | undefined {
    const servers = new Map<ServerPrompt, string>();
    const asked = askedPrompt(content, (command) => {
      const found = this.servers.findPrompt(command);
      if (found === undefined || !this.mayUse(found.server, context)) return undefined;
      servers.set(found.prompt, found.server);
      return found.prompt;
    });
    const server = asked && servers.get(asked.prompt);
    if (asked === undefined || server === undefined) return undefined;
    return this.textOf(server, asked, context, signal).then((trailing) => ({ trailing }));
  }

  private mayUse(server: string, context: ToolContext): boolean {
    return this.policy.allows(safeToolName(server, PROMPT_TOOL), context);
  }

  private async textOf(
    server: string,
    { prompt, values, missing }: AskedPrompt,
    context: ToolContext,
    signal: AbortSignal,
  ): Promise<string> {
    const what = `the prompt "/${prompt.command}" of the tool server "${server}"`;
    if (missing.length > 0) {
      const needed = missing.map(({ name, description }) =>
        description ? `${name} (${description})` : name,
      );
      return `The message asks for ${what}, which needs more: ${needed.join(', ')}. Ask for it.`;
    }
    try {
      const { content } = await this.servers.getPrompt(server, prompt.name, values, signal, context);
      const text = content.slice(0, MAX_CHARACTERS);
      return `The message asks for ${what}. Do what it says.\n<prompt name="${prompt.command}">\n${text}\n</prompt>`;
    } catch (error) {
      signal.throwIfAborted();
      return `The message asks for ${what}, which could not be had: ${sentenceOf(error)} Say so.`;
    }
  }
}
