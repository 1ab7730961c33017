export const PLUGIN_STATUSES = ['loaded', 'disabled', 'failed'] as const;
export type PluginStatus = (typeof PLUGIN_STATUSES)[number];

/** A snapshot of an installed plugin. */
export interface Plugin {
  readonly name: string;
  /** Empty when its `plugin.toml` cannot be read. */
  readonly version: string;
  readonly status: PluginStatus;
  readonly type: string;
  /** What it offers, such as `tool:get_weather`. */
  readonly capabilities: readonly string[];
  /** Linear memory and buffers of its module as of its last call, in bytes; 0 while it does not run. */
  readonly memoryBytes: number;
  /** Why it could not be loaded, redacted; set while `failed`. */
  readonly error: string | undefined;
}

/** A plugin cannot be loaded, or a call of it failed. The message is one sentence without local paths. */
export class PluginProblem extends Error {
  override readonly name = 'PluginProblem';
}
