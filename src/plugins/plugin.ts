export type PluginStatus = 'loaded' | 'disabled';

/** An installed plugin as it is at this moment. */
export interface Plugin {
  readonly name: string;
  readonly version: string;
  readonly status: PluginStatus;
  readonly type: string;
  /** What it offers, such as `tool:get_weather`. */
  readonly capabilities: readonly string[];
  readonly memoryBytes: number;
}
