import type { ServerResponse } from 'node:http';

const TIMEOUT_MS = 30_000;

/**
 * Disconnects a caller that stops reading a complete response, which would otherwise stay in memory without limit. Streams look after their readers until they end. Once all is taken, Node puts its keep-alive limit in the place
 * of this one.
 */
export function cutWhenStalled(response: ServerResponse, timeoutMs = TIMEOUT_MS): void {
  // Said when the last byte has gone to the socket, whose time-out then waits for any of them to leave it.
  response.once('prefinish', () => response.setTimeout(timeoutMs));
}
