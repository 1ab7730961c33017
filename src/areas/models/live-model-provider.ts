import {
  type ModelCallOptions,
  type ModelEvent,
  type ModelOptions,
  ModelProvider,
  type ModelRequest,
} from './model-provider.port.js';

/** The provider that is configured at the moment. Who speaks to one for longer than a call asks for it by `inForce`. */
export class LiveModelProvider extends ModelProvider {
  constructor(private provider: ModelProvider) {
    super();
  }

  override get name(): string {
    return this.provider.name;
  }

  override get defaultModel(): string {
    return this.provider.defaultModel;
  }

  override inForce(): ModelProvider {
    return this.provider;
  }

  override stream(request: ModelRequest, options: ModelCallOptions): AsyncIterable<ModelEvent> {
    return this.provider.stream(request, options);
  }

  override unsupported(options: ModelOptions): readonly string[] {
    return this.provider.unsupported(options);
  }

  /** New turns go to this one; those that run stay with theirs. */
  replace(provider: ModelProvider): void {
    this.provider = provider;
  }
}
