import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { Injectable } from '@nestjs/common';

/** Names this process among all that share the database: host, process, and a part that no restart repeats. */
@Injectable()
export class ReplicaId {
  readonly value = `${hostname()}:${process.pid}:${randomBytes(4).toString('hex')}`;
}
