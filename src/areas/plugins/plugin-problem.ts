/** Why a plugin cannot be loaded or a call of it went wrong: one sentence for people, without paths of the machine. */
export class PluginProblem extends Error {
  override readonly name = 'PluginProblem';
}
