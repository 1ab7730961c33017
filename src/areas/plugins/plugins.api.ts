/** What others may use of plugins: the folders of those that are loaded, and how they are. */
export { PluginDirectory, type PluginFolder } from './plugin-directory.port.js';
export { Plugins } from './plugins.service.js';
