import { Injectable } from '@nestjs/common';
import { NotFound } from '../errors/gateway-error.js';
import { ApiChannel } from './api-channel.js';
import type { Channel } from './channel.port.js';

class ChannelNotFound extends NotFound {
  constructor() {
    super('There is no such channel. GET /channels lists those there are.');
  }
}

/** The channels a session may be on: `api`, which is built in, and what is configured. */
@Injectable()
export class ChannelDirectory {
  private readonly channels: ReadonlyMap<string, Channel>;

  constructor(api: ApiChannel) {
    this.channels = new Map([[api.name, api]]);
  }

  all(): readonly Channel[] {
    return [...this.channels.values()];
  }

  names(): readonly string[] {
    return [...this.channels.keys()];
  }

  has(name: string): boolean {
    return this.channels.has(name);
  }

  /** Throws `ChannelNotFound`. */
  get(name: string): Channel {
    const channel = this.channels.get(name);
    if (channel === undefined) throw new ChannelNotFound();
    return channel;
  }
}
