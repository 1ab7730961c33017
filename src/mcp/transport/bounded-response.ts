const MOST_BYTES = 10 * 1_048_576;

/** A body that grows past what anybody would read. */
class AnswerTooLarge extends Error {
  constructor() {
    super(`The MCP server sent more than ${MOST_BYTES} bytes for one message.`);
  }
}

/** The same answer, whose body fails when one message in it is too large: the whole body, or one line of a stream. */
export function boundedResponse(response: Response): Response {
  if (response.body === null) return response;
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(bounded(isStream)), { status, statusText, headers });
}

function bounded(isStream: boolean): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      const lastEnd = isStream ? chunk.lastIndexOf(10) : -1;
      bytes = lastEnd === -1 ? bytes + chunk.length : chunk.length - lastEnd - 1;
      if (bytes > MOST_BYTES) controller.error(new AnswerTooLarge());
      else controller.enqueue(chunk);
    },
  });
}
