/** The calls of a driver: every operation of a document once, with its first example. */
export function planOf(document) {
  const calls = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => callOf(path, method, operation)),
  );
  // Operations that end a session or remove a webhook come last, because the others need it.
  return [
    ...calls.filter(({ method }) => method !== 'delete'),
    ...calls.filter(({ method }) => method === 'delete'),
  ];
}

function callOf(path, method, operation) {
  const { operationId, parameters = [], requestBody, responses, tags } = operation;
  const content = responses['200']?.content ?? {};
  const examples = Object.values(requestBody?.content['application/json'].examples ?? {});
  return {
    id: operationId,
    name: operationId.replace(/_(\w)/g, (_whole, letter) => letter.toUpperCase()),
    method,
    path,
    /** Path parameters, and where their values come from. */
    pathParameters: parameters
      .filter((one) => one.in === 'path')
      .map(({ name }) => ({ name, from: `${tags[0]}_${name}` })),
    query: queryOf(parameters),
    hasQuery: parameters.some((one) => one.in === 'query'),
    body: examples.at(-1)?.value,
    hasBody: requestBody !== undefined,
    isText: Object.keys(content).length > 0 && !('application/json' in content),
    onlyStreams: 'text/event-stream' in content && Object.keys(content).length === 1,
    good: Object.keys(responses).filter((status) => status.startsWith('2')),
  };
}

function queryOf(parameters) {
  const values = parameters
    .filter((one) => one.in === 'query')
    .map(({ name, schema, example }) => [
      name,
      example ?? schema.example ?? schema.default ?? schema.enum?.[0],
    ])
    .filter(([, value]) => value !== undefined);
  return Object.fromEntries(values);
}
