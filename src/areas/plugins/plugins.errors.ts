import { Conflict, NotFound } from '../../common/errors/gateway-error.js';

export class PluginNotFound extends NotFound {
  constructor() {
    super('There is no such plugin. GET /plugins lists those there are.');
  }
}

/** The plugin stays as it was: an older version goes on serving when there is one. */
export class PluginNotLoaded extends Conflict {
  constructor(reason: string) {
    super(`The plugin could not be loaded: ${reason}`, { details: { reason: 'plugin_not_loaded' } });
  }
}
