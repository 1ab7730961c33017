import {
  type ModelCallOptions,
  type ModelEvent,
  ModelProvider,
  type ModelRequest,
  type ProviderAddress,
} from '../../model-provider.port.js';
import type { AttemptClock } from '../wire/attempt-clock.js';
import { classifyFault } from '../wire/classify-fault.js';
import { type CallTarget, callProvider } from '../wire/provider-call.js';
import { readServerEvents } from '../wire/read-server-events.js';
import { streamWithRetries } from '../wire/stream-with-retries.js';
import type { WireOptions } from '../wire/wire-options.js';
import { type AnthropicParams, anthropicRequest } from './anthropic-request.js';
import { anthropicTarget } from './anthropic-target.js';
import { readAnthropicAnswer } from './read-anthropic-answer.js';

/** Speaks the Messages API, to Anthropic and to every server that is compatible with it. */
export class AnthropicProvider extends ModelProvider {
  readonly name = 'anthropic';
  readonly defaultModel: string;
  override readonly address: ProviderAddress;

  static async create(options: WireOptions): Promise<AnthropicProvider> {
    return new AnthropicProvider(options, await anthropicTarget(options));
  }

  private constructor(
    private readonly options: WireOptions,
    private readonly target: CallTarget,
  ) {
    super();
    this.defaultModel = options.defaultModel;
    this.address = target.connection.address;
  }

  override stream(request: ModelRequest, options: ModelCallOptions): AsyncIterable<ModelEvent> {
    const params = anthropicRequest(request, request.model || this.defaultModel);
    const identity = { name: this.name, keyVariable: 'ANTHROPIC_API_KEY', secrets: [this.options.apiKey] };
    return streamWithRetries(
      {
        provider: this.name,
        policy: this.options.retries,
        attempt: (clock) => this.attempt(params, clock),
        classify: (error) => classifyFault(error, identity),
      },
      options,
    );
  }

  private async attempt(params: AnthropicParams, clock: AttemptClock): Promise<AsyncIterable<ModelEvent>> {
    const answer = await callProvider(this.target, params, clock.signal);
    return readAnthropicAnswer(readServerEvents(answer, clock), params, clock);
  }
}
