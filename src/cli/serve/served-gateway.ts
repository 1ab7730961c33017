import type { ProviderChoice } from '../../areas/models/providers/provider-choice.js';
import type { ListenerPorts } from '../../http/listeners/profile-listeners.js';
import type { StopOptions } from '../../platform/lifecycle/drain.service.js';
import type { Logs } from '../../platform/logging/logger.js';
import type { Redactor } from '../../platform/logging/redactor.js';
import type { Environment } from '../../platform/settings/environment.js';
import type { LoadedSettings } from '../../platform/settings/settings-loader.js';
import type { MintedToken } from '../../platform/tokens/tokens.service.js';

export interface StartRequest {
  readonly environment: Environment;
  readonly loaded: LoadedSettings;
  readonly logs: Logs;
  readonly redactor: Redactor;
  /** Ends a start that is not done yet; `StartGateway` then rejects with its reason. */
  readonly signal?: AbortSignal;
}

/** The gateway that `serve` runs. */
export interface ServedGateway {
  readonly ports: ListenerPorts;
  /** The administrator's token, when this start made it. */
  readonly firstToken: MintedToken | undefined;
  /** Signs in to the console once; undefined where no browser on this machine could use it. */
  readonly signInCode: string | undefined;
  readonly embedded: boolean;
  /** The model that answers, and why it was chosen. */
  readonly provider: Pick<ProviderChoice, 'kind' | 'model' | 'why'>;
  /** Drains, stops, closes the database. */
  stop(options?: StopOptions): Promise<void>;
  /** Ends a running `stop` sooner: what still runs is interrupted now. */
  hurry(): void;
}

/** Starts a gateway. Passed to the command line, which is below the files that know every area. */
export type StartGateway = (request: StartRequest) => Promise<ServedGateway>;
