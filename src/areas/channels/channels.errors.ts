import { Conflict, NotFound } from '../../common/errors/gateway-error.js';

export class ChannelNotFound extends NotFound {
  constructor() {
    super('There is no such channel. GET /channels lists those there are.');
  }
}

export class ChannelDisabled extends Conflict {
  constructor(name: string) {
    super(`The channel is disabled. Set channels_config.${name}.enabled to true.`, {
      details: { reason: 'channel_disabled' },
    });
  }
}
