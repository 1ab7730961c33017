import { createReadStream, type ReadStream } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** The files of the package that the page needs; nothing else is served. */
const ASSETS: Readonly<Record<string, string>> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': 'image/png',
};

/**
 * Starts the page. Swagger UI shows a response only once it is complete, and a stream has no end: so the page reads a stream
 * for a while and shows what arrived. The browser's storage keeps the token until "Logout".
 */
const START = `
const MOST_CHARS = 200000;

/** The response; of a stream, what arrived until it ended or was long enough to show. */
async function fetchAtMost(url, request) {
  const response = await fetch(url, request);
  const type = response.headers.get('content-type') || '';
  if (!response.body || !type.startsWith('text/event-stream')) return response;
  // The events of one message end with its answer; the others go on.
  const seconds = request.method === 'POST' ? 120 : 10;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  let stopped = false;
  const stop = () => {
    stopped = true;
    reader.cancel();
  };
  const timer = setTimeout(stop, seconds * 1000);
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    text += value;
    if (text.length > MOST_CHARS) stop();
  }
  clearTimeout(timer);
  if (stopped) text += ': this page stopped reading here; the stream goes on for clients that stay\\n';
  return new Response(text, { status: response.status, headers: response.headers });
}

window.onload = () => {
  window.ui = SwaggerUIBundle({
    url: '/openapi.json',
    dom_id: '#swagger-ui',
    deepLinking: true,
    displayRequestDuration: true,
    persistAuthorization: true,
    requestInterceptor: (request) => Object.assign(request, { userFetch: fetchAtMost }),
  });
};`;

export const SWAGGER_PAGE = `<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>Agent Gateway API</title>
  <link rel="stylesheet" href="/docs/swagger-ui.css">
  <link rel="icon" type="image/png" href="/docs/favicon-32x32.png">
</head>
<body>
  <div id="swagger-ui"></div>
  <script src="/docs/swagger-ui-bundle.js"></script>
  <script src="/docs/start.js"></script>
</body>
</html>
`;

/** Only this origin's files and calls; styles inline because Swagger UI writes them. */
export const SWAGGER_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; " +
  "frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

export interface SwaggerAsset {
  readonly mediaType: string;
  readonly content: string | ReadStream;
}

/** Undefined for a name that the page does not ask for. */
export function swaggerAsset(name: string): SwaggerAsset | undefined {
  if (name === 'start.js') return { mediaType: 'text/javascript; charset=utf-8', content: START };
  const mediaType = Object.hasOwn(ASSETS, name) ? ASSETS[name] : undefined;
  if (mediaType === undefined) return undefined;
  const folder = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  return { mediaType, content: createReadStream(join(folder, name)) };
}
