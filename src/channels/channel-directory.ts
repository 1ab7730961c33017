import { Injectable } from '@nestjs/common';

/** The names a session may be on: `api`, which is built in, and what is configured. */
@Injectable()
export class ChannelDirectory {
  names(): readonly string[] {
    return ['api'];
  }

  has(name: string): boolean {
    return this.names().includes(name);
  }
}
