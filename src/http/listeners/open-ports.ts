import { Injectable } from '@nestjs/common';
import type { ListenerId } from '../profiles/profile.js';
import type { ListenerPorts } from './profile-listeners.js';

/** The ports on which this process listens, once open: with port 0 the settings do not tell. */
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
