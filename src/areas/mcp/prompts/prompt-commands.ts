import { Injectable, type OnModuleInit } from '@nestjs/common';
import { sentenceOf } from '../../../common/errors/error-text.js';
import { type Logger, Logs } from '../../../platform/logging/logger.js';
import { withDeadline } from '../../../platform/runtime/with-deadline.js';
import {
  type PromptAddition,
  type PromptQuestion,
  type PromptSource,
  PromptSources,
  type PromptWait,
  safeToolName,
  type ToolContext,
  ToolPolicy,
} from '../../tools/tools.api.js';
import { McpServers } from '../mcp-servers.service.js';
import { type AskedPrompt, askedPrompt } from './asked-prompt.js';
import { PROMPT_TOOL, type ServerPrompt } from './server-prompt.js';

/** It may have to open a connection of the user first. */
const MAX_MS = 20_000;
/** Time kept for telling the person that it took too long. */
const TELLING_MS = 2000;
const MAX_CHARACTERS = 100_000;
/** What is added to the prompt of a turn has at most 256 KiB in all. */
const MAX_BYTES = 200_000;

/**
 * Gives the model the prompt of a tool server that a message asks for as `/server-prompt` (docs/mcp.md, Prompts). When
 * a prompt cannot be fetched, the model is told, so that the person learns of it.
 */
@Injectable()
export class PromptCommands implements PromptSource, OnModuleInit {
  readonly name = 'prompts of tool servers';
  readonly maxMs = MAX_MS + TELLING_MS;
  private readonly logger: Logger;

  constructor(
    private readonly servers: McpServers,
    private readonly sources: PromptSources,
    private readonly policy: ToolPolicy,
    logs: Logs,
  ) {
    this.logger = logs.for('mcp::prompts');
  }

  onModuleInit(): void {
    this.sources.add(this);
  }

  additionFor({ context, content }: PromptQuestion, wait: PromptWait): Promise<PromptAddition> | undefined {
    const servers = new Map<ServerPrompt, string>();
    const asked = askedPrompt(content, (command) => {
      const found = this.servers.findPrompt(command);
      if (found === undefined || !this.mayUse(found.server, context)) return undefined;
      servers.set(found.prompt, found.server);
      return found.prompt;
    });
    const server = asked && servers.get(asked.prompt);
    if (asked === undefined || server === undefined) return undefined;
    return this.textOf(server, asked, context, wait.signal).then((trailing) => ({ trailing }));
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
    const late = new AbortController();
    const tooLate = (): never => {
      const error = new Error(`It gave nothing within ${MAX_MS / 1000} seconds.`);
      late.abort(error);
      throw error;
    };
    try {
      const over = AbortSignal.any([signal, late.signal]);
      const asking = this.servers.getPrompt(server, prompt.name, values, over, context);
      const { content } = await withDeadline(asking, MAX_MS, tooLate);
      const text = this.fitting(content, server, prompt.name);
      return `The message asks for ${what}. Do what it says.\n<prompt name="${prompt.command}">\n${text}\n</prompt>`;
    } catch (error) {
      signal.throwIfAborted();
      const reason = sentenceOf(error);
      this.logger.warn('a prompt could not be fetched; the user is told', {
        server,
        prompt: prompt.name,
        reason,
      });
      return `The message asks for ${what}, which could not be had: ${reason} Say so.`;
    }
  }

  /** A prompt that is too long is cut, and the model is told, so that the person learns of it. */
  private fitting(content: string, server: string, prompt: string): string {
    const bytes = Buffer.byteLength(content);
    if (content.length <= MAX_CHARACTERS && bytes <= MAX_BYTES) return content;
    const head = Buffer.from(content.slice(0, MAX_CHARACTERS)).subarray(0, MAX_BYTES);
    // What goes on keeps the first bytes of a character back.
    const text = new TextDecoder().decode(head, { stream: true });
    this.logger.warn('a prompt is too long and was cut', {
      server,
      prompt,
      bytes,
      kept: Buffer.byteLength(text),
    });
    return `${text}\n[cut: the prompt has ${content.length} characters, of which the last are missing. Say so.]`;
  }
}
