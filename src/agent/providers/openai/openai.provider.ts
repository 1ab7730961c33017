import type OpenAI from 'openai';
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
import { createOpenAiClient } from './openai-client.js';
import { openAiFault } from './openai-fault.js';
import { openAiRequest } from './openai-request.js';
import { readOpenAiAnswer } from './read-openai-answer.js';

/** Speaks Chat Completions, to OpenAI and to every server that is compatible with it. */
export class OpenAiProvider extends ModelProvider {
  readonly name = 'openai';
  readonly defaultModel: string;
  private readonly client: OpenAI;

  constructor(private readonly options: WireOptions) {
    super();
    this.defaultModel = options.defaultModel;
    this.client = createOpenAiClient(options);
  }

  override stream(request: ModelRequest, options: ModelCallOptions): AsyncIterable<ModelEvent> {
    const params = openAiRequest(request, request.model || this.defaultModel, this.options.baseUrl);
    const identity = { name: this.name, keyVariable: 'OPENAI_API_KEY', secrets: [this.options.apiKey] };
    return streamWithRetries(
      {
        provider: this.name,
        policy: this.options.retries,
        attempt: (clock) => this.attempt(params, clock),
        judge: (error) => judgeFault(openAiFault(error), identity),
      },
      options,
    );
  }

  private async *attempt(
    params: OpenAI.Chat.ChatCompletionCreateParamsStreaming,
    clock: AttemptClock,
  ): AsyncGenerator<ModelEvent> {
    const response = await this.client.chat.completions.create(params, { signal: clock.signal }).asResponse();
    yield* readOpenAiAnswer(readServerEvents(response, clock), params.model, clock);
  }
}
