import { runInNewContext } from 'node:vm';
import { swaggerAsset } from './swagger-ui.js';

interface Options {
  persistAuthorization: boolean;
  requestInterceptor(request: object): {
    userFetch(url: string, request: { method: string }): Promise<Response>;
  };
}

/** The responses that the page passes to Swagger UI; its clock runs a thousand times as fast. */
function started(answer: Response): Options {
  let options: Options | undefined;
  const window: { onload?: () => void } = {};
  runInNewContext(swaggerAsset('start.js')?.content as string, {
    window,
    Response,
    TextDecoderStream,
    clearTimeout,
    Date,
    fetch: () => Promise.resolve(answer),
    setTimeout: (then: () => void, ms: number) => setTimeout(then, ms / 1000),
    SwaggerUIBundle: (given: Options) => {
      options = given;
    },
  });
  window.onload?.();
  if (options === undefined) throw new Error('Swagger UI was not started.');
  return options;
}

const shown = async (answer: Response, method = 'GET'): Promise<string> => {
  const { userFetch } = started(answer).requestInterceptor({});
  return (await userFetch('/', { method })).text();
};

function stream(endsItself: boolean): Response {
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      controller.enqueue(new TextEncoder().encode('event: log\ndata: {}\n\n'));
      if (endsItself) controller.close();
    },
  });
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
}

test('an endless stream is shown as far as it has arrived, with a note that reading stopped', async () => {
  expect(await shown(stream(false))).toMatch(/^event: log\ndata: \{\}\n\n: this page stopped reading here/);
});

test('a stream that ends is shown whole, like any other response', async () => {
  expect(await shown(stream(true), 'POST')).toBe('event: log\ndata: {}\n\n');
  expect(await shown(Response.json({ healthy: true }))).toBe('{"healthy":true}');
});

test('the token survives a reload', () => {
  expect(started(Response.json({})).persistAuthorization).toBe(true);
});
