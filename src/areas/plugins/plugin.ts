export const PLUGIN_STATUSES = ['loaded', 'disabled', 'failed'] as const;
export type PluginStatus = (typeof PLUGIN_STATUSES)[number];

/** An installed plugin as it is at this moment. */
export interface Plugin {
  readonly name: string;
  /** Empty when its `plugin.toml` cannot be read. */
  readonly version: string;
  readonly status: PluginStatus;
  readonly type: string;
  /** What it offers, such as `tool:get_weather`. */
  readonly capabilities: readonly string[];
  /** Linear memory and buffers of its module as of its last call; 0 while none runs. */
  readonly memoryBytes: number;
  /** Why it could not be loaded, redacted; set when `failed`. */
  readonly error: string | undefined;
}
