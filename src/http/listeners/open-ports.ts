import { Injectable } from '@nestjs/common';
import type { ListenerId } from '../profiles/profile.js';
import type { ListenerPorts } from './profile-listeners.js';

/** On which ports this process listens, once they are open: with port 0 that is not in the settings. */
@Injectable()
export class OpenPorts {
  private ports: ListenerPorts = {};

  opened(ports: ListenerPorts): void {
    this.ports = ports;
  }

  of(listener: ListenerId): number | undefined {
    return this.ports[listener];
  }
}
