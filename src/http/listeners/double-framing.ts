import type { IncomingMessage } from 'node:http';

/**
 * With a length beside any transfer coding, even an empty one, which Node lets pass, two readers may see the end of a
 * request in two places, and what is between them is a request to one of them (RFC 9112, 6.3).
 */
export function isFramedTwice({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined && headers['content-length'] !== undefined;
}
