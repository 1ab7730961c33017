import type { ModelProvider } from './model-provider.port.js';
import { DEFAULT_PROVIDER } from './providers/provider-choice.js';

/** The providers that are configured at the moment, by name. A turn keeps the providers that it began with. */
export class ModelProviders {
  constructor(private inForce: ReadonlyMap<string, ModelProvider>) {}

  /** The provider that `[provider]` describes. */
  get default(): ModelProvider {
    const provider = this.inForce.get(DEFAULT_PROVIDER);
    if (provider === undefined) throw new Error('There is no default provider.');
    return provider;
  }

  get names(): readonly string[] {
    return [...this.inForce.keys()];
  }

  get(name: string): ModelProvider | undefined {
    return this.inForce.get(name);
  }

  /** New turns use these; running turns keep theirs. */
  replace(next: ReadonlyMap<string, ModelProvider>): void {
    this.inForce = next;
  }
}
