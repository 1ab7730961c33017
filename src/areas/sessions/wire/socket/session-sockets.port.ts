import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { ProfileId } from '../../../../http/profiles/profile.js';

/** Takes connections that ask for a WebSocket, on the listeners of both profiles. Never throws: it answers. */
export abstract class SessionSockets {
  abstract accept(profile: ProfileId, request: IncomingMessage, socket: Socket, head: Buffer): void;
}
