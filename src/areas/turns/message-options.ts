import { Injectable } from '@nestjs/common';
import { BadRequest } from '../../common/errors/gateway-error.js';
import { Settings } from '../../platform/settings/settings.js';
import { ModelProvider, type ResponseFormat, type SamplingOptions } from '../models/models.api.js';
import { ArgumentChecks, ToolCatalog } from '../tools/tools.api.js';

/** How a message wants to be answered; what is absent is left to settings and provider. */
export interface MessageOptions {
  readonly sampling?: SamplingOptions;
  /** At most `agent.max_output_tokens`. */
  readonly maxOutputTokens?: number;
  readonly responseFormat?: ResponseFormat;
}

/** Refuses options that a message's turn could not keep to, before anything of it is stored. */
@Injectable()
export class MessageOptionsCheck {
  constructor(
    private readonly provider: ModelProvider,
    private readonly schemas: ArgumentChecks,
    private readonly catalog: ToolCatalog,
    private readonly settings: Settings,
  ) {}

  /** @param model of the session; null for the default. Throws `BadRequest`, which names the options. */
  async refuseUnsupported(model: string | null, options: MessageOptions): Promise<void> {
    const { sampling, responseFormat, maxOutputTokens = 0 } = options;
    const problems = [
      ...this.provider.unsupported({
        model: model ?? this.provider.defaultModel,
        ...(sampling !== undefined && { sampling }),
        ...(responseFormat !== undefined && { responseFormat }),
      }),
    ];
    const most = this.settings.current.agent.max_output_tokens;
    if (maxOutputTokens > most)
      problems.push(`max_output_tokens: must be at most ${most}, as agent.max_output_tokens says`);
    const choice = sampling?.toolChoice;
    if (typeof choice === 'object' && this.catalog.sourceOf(choice.name) === undefined)
      problems.push(`tool_choice: there is no tool "${choice.name}"`);
    const broken = responseFormat && (await this.schemas.of(responseFormat.schema).verify());
    if (broken !== undefined) problems.push(`response_format: ${broken}`);
    if (problems.length > 0) throw new BadRequest(problems.join('; '));
  }
}
