/** A plugin that is loaded now, and where it lies. */
export interface PluginFolder {
  readonly name: string;
  /** Absolute and without symbolic links; what it carries beside the module, such as `skills/`, is below it. */
  readonly folder: string;
}

/** Where the loaded plugins lie, for areas that read what a plugin carries. Disabled and failed ones are not among them. */
export abstract class PluginDirectory {
  /** By name. */
  abstract loadedFolders(): readonly PluginFolder[];
}
