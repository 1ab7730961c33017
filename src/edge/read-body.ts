import type { IncomingMessage } from 'node:http';
import { BadRequest, BodyTooLarge } from '../errors/gateway-error.js';

/** Reads the whole body, at most `maxBytes` of it; a larger one is refused before it is read where its length says so. */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const announced = Number(request.headers['content-length'] ?? '0');
  if (announced > maxBytes) throw tooLarge(maxBytes);
  return new Promise<Buffer>((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const stop = (outcome: () => void): void => {
      request.removeAllListeners('data');
      outcome();
    };
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxBytes) return stop(() => reject(tooLarge(maxBytes)));
      chunks.push(chunk);
      return undefined;
    });
    request.once('end', () =>
      resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks, size)),
    );
    request.once('error', reject);
    request.once('close', () =>
      reject(new BadRequest('The connection ended before the whole body had arrived.')),
    );
  });
}

function tooLarge(maxBytes: number): BodyTooLarge {
  // The rest of the body is not wanted: the connection ends with the answer.
  return new BodyTooLarge(`The body is larger than the ${maxBytes} bytes allowed here.`, {
    headers: { Connection: 'close' },
  });
}
