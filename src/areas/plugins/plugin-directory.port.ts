/** A loaded plugin and its folder. */
export interface PluginFolder {
  readonly name: string;
  /** Absolute, without symbolic links. What the plugin brings beside its module, such as `skills/`, is below it. */
  readonly folder: string;
}

/** The folders of loaded plugins, for areas that read what plugins bring along. Leaves out disabled and failed ones. */
export abstract class PluginDirectory {
  /** One entry a plugin; the order is not defined. */
  abstract loadedFolders(): readonly PluginFolder[];
}
