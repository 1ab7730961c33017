import type { IncomingMessage } from 'node:http';
import { BadRequest, BodyTooLarge } from '../../common/errors/gateway-error.js';
import type { HeldBody } from './body-room.js';

/**
 * Reads the whole body, at most `maxBytes` of it; a larger one is refused before it is read where its length says so.
 * `askForIt` is called between the two: some clients send nothing before they are told to. What arrives is counted in `held`,
 * whose refusals are thrown.
 */
export async function readBody(
  request: IncomingMessage,
  maxBytes: number,
  { askForIt, held }: { readonly askForIt: () => void; readonly held: HeldBody },
): Promise<Buffer> {
  const announced = Number(request.headers['content-length'] ?? '0');
  if (announced > maxBytes) throw tooLarge(maxBytes);
  askForIt();
  return new Promise<Buffer>((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const cutShort = (): void =>
      reject(new BadRequest('The connection ended before the whole body had arrived.'));
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      try {
        if (size > maxBytes) throw tooLarge(maxBytes);
        held.add(chunk.length);
        chunks.push(chunk);
      } catch (refusal) {
        request.removeAllListeners('data');
        if (refusal instanceof Error) reject(refusal);
      }
    });
    request.once('end', () => {
      // Every request closes in the end: an error made for one that has arrived would be made for nobody.
      request.off('close', cutShort);
      resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks, size));
    });
    // The error is that of the caller's connection: nothing went wrong here.
    request.once('error', cutShort);
    request.once('close', cutShort);
  });
}

function tooLarge(maxBytes: number): BodyTooLarge {
  return new BodyTooLarge(`The body is larger than the ${maxBytes} bytes allowed here.`);
}
