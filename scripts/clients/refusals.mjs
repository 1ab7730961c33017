/** Requests that match the document but are refused, with the expected status. */
const REFUSED = [
  { status: 401, method: 'GET', path: '/api/v1/sessions', token: undefined },
  { status: 401, method: 'GET', path: '/api/v1/sessions', token: 'agw_unknown' },
  { status: 404, method: 'GET', path: '/api/v1/sessions/sess_unknown' },
  { status: 404, method: 'DELETE', path: '/api/v1/hooks/hook_unknown' },
  { status: 404, method: 'POST', path: '/api/v1/sessions/sess_unknown/messages', body: { content: 'Hello' } },
  { status: 400, method: 'POST', path: '/api/v1/sessions', body: { channel: 'pigeon' } },
  { status: 400, method: 'GET', path: '/api/v1/logs?since=yesterday' },
  {
    status: 400,
    method: 'POST',
    path: '/api/v1/hooks',
    body: { url: 'http://169.254.169.254/', events: ['*'] },
  },
];

/** Sends them through a proxy that reports violations. Returns what is wrong. */
export async function refusedThrough(url, token) {
  const problems = [];
  const send = async ({ status, method, path, body, headers = {}, ...rest }) => {
    const shown = 'token' in rest ? rest.token : token;
    const response = await fetch(url + path, {
      method,
      headers: {
        ...headers,
        ...(shown === undefined ? {} : { Authorization: `Bearer ${shown}` }),
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const violations = response.headers.get('sl-violations');
    if (response.status !== status)
      problems.push(`${method} ${path}: ${response.status} instead of ${status}`);
    if (violations !== null && !isAboutTheToken(violations, shown))
      problems.push(`${method} ${path}: ${violations}`);
    return response;
  };
  for (const request of REFUSED) await send(request);
  const created = await (await send({ status: 201, method: 'POST', path: '/api/v1/sessions' })).json();
  const session = `/api/v1/sessions/${created.id ?? created.session_id}`;
  const asEvents = { Accept: 'text/event-stream' };
  await send({
    status: 200,
    method: 'POST',
    path: `${session}/messages`,
    body: { content: 'Hello' },
    headers: asEvents,
  });
  const later = { Prefer: 'respond-async' };
  await send({
    status: 202,
    method: 'POST',
    path: `${session}/messages`,
    body: { content: 'Later' },
    headers: later,
  });
  await send({ status: 204, method: 'DELETE', path: session });
  await send({ status: 409, method: 'DELETE', path: session });
  return problems;
}

/** A request without a token does not match the document, and the 401 says so. That violation is expected. */
function isAboutTheToken(violations, token) {
  return token === undefined && JSON.parse(violations).every(({ location }) => location[0] === 'request');
}
