import type Anthropic from '@anthropic-ai/sdk';
import {
  type ModelCallOptions,
  type ModelEvent,
  ModelProvider,
  type ModelRequest,
} from '../../model-provider.port.js';
import type { AttemptClock } from '../wire/attempt-clock.js';
import { judgeFault } from '../wire/judge-fault.js';
import { readServerEvents } from '../wire/read-server-events.js';
import { streamWithRetries } from '../wire/stream-with-retries.js';
import type { WireOptions } from '../wire/wire-options.js';
import { createAnthropicClient } from './anthropic-client.js';
import { anthropicFault } from './anthropic-fault.js';
import { type AnthropicParams, anthropicRequest } from './anthropic-request.js';
import { readAnthropicAnswer } from './read-anthropic-answer.js';

/** Speaks the Messages API, to Anthropic and to every server that is compatible with it. */
export class AnthropicProvider extends ModelProvider {
  readonly name = 'anthropic';
  readonly defaultModel: string;
  private readonly client: Anthropic;

  constructor(private readonly options: WireOptions) {
    super();
    this.defaultModel = options.defaultModel;
    this.client = createAnthropicClient(options);
  }

  override stream(request: ModelRequest, options: ModelCallOptions): AsyncIterable<ModelEvent> {
    const params = anthropicRequest(request, request.model || this.defaultModel);
    const identity = { name: this.name, keyVariable: 'ANTHROPIC_API_KEY', secrets: [this.options.apiKey] };
    return streamWithRetries(
      {
        provider: this.name,
        policy: this.options.retries,
        attempt: (clock) => this.attempt(params, clock),
        judge: (error) => judgeFault(anthropicFault(error), identity),
      },
      options,
    );
  }

  private async *attempt(params: AnthropicParams, clock: AttemptClock): AsyncGenerator<ModelEvent> {
    const response = await this.client.messages.create(params, { signal: clock.signal }).asResponse();
    yield* readAnthropicAnswer(readServerEvents(response, clock), params, clock);
  }
}
