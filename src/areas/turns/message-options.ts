import { Injectable } from '@nestjs/common';
import { BadRequest } from '../../common/errors/gateway-error.js';
import { agentSettings } from '../../platform/settings/agent-settings.js';
import { Settings } from '../../platform/settings/settings.js';
import {
  agentOptions,
  ModelChains,
  type ModelTool,
  type ResponseFormat,
  type SamplingOptions,
} from '../models/models.api.js';
import { ArgumentChecks, ToolCatalog, type ToolContext } from '../tools/tools.api.js';
import { offeredTools } from './callers/caller-tools.js';
import { AgentGone } from './turns.errors.js';

/** How a message is to be answered; settings and provider decide what is absent. */
export interface MessageOptions {
  readonly sampling?: SamplingOptions;
  /** At most `agent.max_output_tokens`. */
  readonly maxOutputTokens?: number;
  readonly responseFormat?: ResponseFormat;
  /** Told to the model for this message only, after the system prompt. */
  readonly instructions?: string;
  /** Tools that the caller runs: a turn that calls one ends with the call open, and the next message brings its output. */
  readonly callerTools?: readonly ModelTool[];
}

/** Refuses options that the message's turn could not follow, before anything of it is stored. */
@Injectable()
export class MessageOptionsCheck {
  constructor(
    private readonly models: ModelChains,
    private readonly schemas: ArgumentChecks,
    private readonly catalog: ToolCatalog,
    private readonly settings: Settings,
  ) {}

  /**
   * Every model that may answer in the session has to support them, and a required tool has to be offered in this
   * context. Throws `BadRequest`, which names the options.
   */
  async refuseUnsupported(
    { agent: name, model }: { readonly agent: string; readonly model: string | null },
    options: MessageOptions,
    context: ToolContext,
  ): Promise<void> {
    const { sampling, responseFormat, maxOutputTokens = 0 } = options;
    const agent = agentSettings(this.settings.current, name);
    if (agent === undefined) throw new AgentGone(name);
    const own = agentOptions(agent);
    const all = { ...own.sampling, ...sampling };
    const asked = {
      ...own,
      ...(Object.keys(all).length > 0 && { sampling: all }),
      ...(responseFormat !== undefined && { responseFormat }),
    };
    const chain = this.models.of(agent, model);
    const problems = chain.flatMap((one) => one.speaker.unsupported({ model: one.model, ...asked }));
    const most = agent.maxOutputTokens;
    if (maxOutputTokens > most)
      problems.push(`max_output_tokens: must be at most ${most}, as the settings of the agent say`);
    const choice = sampling?.toolChoice;
    const offered = () => offeredTools(this.catalog.list(context), options);
    if (typeof choice === 'object' && !offered().some(({ name }) => name === choice.name))
      problems.push(`tool_choice: there is no tool "${choice.name}"`);
    const broken = responseFormat && (await this.schemas.of(responseFormat.schema).verify());
    if (broken !== undefined) problems.push(`response_format: ${broken}`);
    if (problems.length > 0) throw new BadRequest(problems.join('; '));
  }
}
