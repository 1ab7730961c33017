import { Injectable, type OnModuleInit } from '@nestjs/common';
import { agentSettings, DEFAULT_AGENT } from '../../platform/settings/agent-settings.js';
import { Settings } from '../../platform/settings/settings.js';
import { type RegisteredTool, type ToolContext, ToolRegistry } from '../tools/tools.api.js';
import type { MemoryEntry } from './memory.js';
import { MAX_CONTENT_BYTES, Memory } from './memory.service.js';

const MAX_RECALLED = 50;
const DEFAULT_RECALLED = 10;
const text = (description: string, maxLength: number) => ({
  type: 'string',
  minLength: 1,
  maxLength,
  description,
});

const STORE_INPUT = {
  type: 'object',
  properties: {
    content: text('The fact, in one or two self-contained sentences', MAX_CONTENT_BYTES),
  },
  required: ['content'],
  additionalProperties: false,
};
const RECALL_INPUT = {
  type: 'object',
  properties: {
    query: text('Words to look for; without a query the newest memories are returned', 4000),
    limit: {
      type: 'integer',
      minimum: 1,
      maximum: MAX_RECALLED,
      description: `${DEFAULT_RECALLED} by default`,
    },
  },
  additionalProperties: false,
};
const FORGET_INPUT = {
  type: 'object',
  properties: {
    ids: { type: 'array', items: text('An id from memory_recall', 64), minItems: 1, maxItems: 100 },
    query: text('Forgets every memory that has all of these words', 4000),
  },
  minProperties: 1,
  maxProperties: 1,
  additionalProperties: false,
};

/** Their names. */
export const MEMORY_TOOLS = ['memory_store', 'memory_recall', 'memory_forget'] as const;

/** The tools with which a model stores, recalls and forgets facts, always for the user of its session only. */
@Injectable()
export class MemoryTools implements OnModuleInit {
  constructor(
    private readonly memory: Memory,
    private readonly registry: ToolRegistry,
    private readonly settings: Settings,
  ) {}

  onModuleInit(): void {
    this.offer(
      'memory_store',
      'Remembers a fact about the user for later sessions, such as a preference or a name. Not for secrets.',
      STORE_INPUT,
      (args, context) => this.store(args as { content: string }, context),
    );
    this.offer(
      'memory_recall',
      'Looks up what is remembered about the user from earlier sessions.',
      RECALL_INPUT,
      (args, context) => this.recall(args, context),
    );
    this.offer(
      'memory_forget',
      'Permanently forgets memories of the user: by ids, or every memory that has all words of a query.',
      FORGET_INPUT,
      (args, context) => this.forget(args, context),
    );
  }

  private offer(
    name: (typeof MEMORY_TOOLS)[number],
    description: string,
    inputSchema: RegisteredTool['inputSchema'],
    run: RegisteredTool['run'],
  ): void {
    const isAvailable = ({ agent = DEFAULT_AGENT, isUnstored = false }: ToolContext): boolean =>
      !isUnstored && this.memory.isOn && agentSettings(this.settings.current, agent)?.memory === true;
    this.registry.register({
      ...{ name, description, inputSchema, isAvailable },
      run: async (args, context, signal) => {
        // Memory may have been switched off since the tool was offered.
        if (!isAvailable(context)) throw new Error('Memory is switched off.');
        return run(args, context, signal);
      },
    });
  }

  private async store({ content }: { content: string }, context: ToolContext): Promise<string> {
    const { id, isNew } = await this.memory.remember(context, content);
    return JSON.stringify({ id, remembered: true, known_before: !isNew });
  }

  private async recall(args: { query?: string; limit?: number }, context: ToolContext): Promise<string> {
    await this.memory.refuseShared(context);
    const { query, limit = DEFAULT_RECALLED } = args;
    const found = await this.memory.recall(context, query ?? '', limit);
    const memories = query === undefined ? found : found.filter(({ score }) => score > 0);
    return JSON.stringify({ memories: memories.map(shown) });
  }

  private async forget(
    args: { ids?: readonly string[]; query?: string },
    context: ToolContext,
  ): Promise<string> {
    await this.memory.refuseShared(context);
    const { ids, query } = args;
    const gone =
      ids === undefined
        ? await this.memory.forgetAbout(context, query ?? '')
        : await this.memory.forget(context, ids);
    return JSON.stringify({ forgotten: gone.map(shown) });
  }
}

function shown({ id, content, createdAt }: MemoryEntry) {
  return { id, content, remembered_at: createdAt.toISOString() };
}
