const path = (call) => call.pathParameters.map(({ name, from }) => `${name}: made('${from}')`).join(', ');
const json = (value) => JSON.stringify(value);

/** The parameter names of a positional client, in its generator's order. */
function positional(call, order) {
  const parts = {
    path: call.pathParameters.map(({ from }) => `made('${from}')`),
    body: call.hasBody ? [json(call.body)] : [],
    query: call.hasQuery ? [json(call.query)] : [],
  };
  return order.flatMap((part) => parts[part]);
}

/** For each client: how to create it, and how to call an operation. The values are the documents' examples. */
export const DRIVERS = {
  'openapi-fetch': {
    imports: (profile) =>
      `import createClient from 'openapi-fetch';\nimport type { paths } from './openapi-fetch-${profile}/schema';\n` +
      'const client = createClient<paths>({ baseUrl: BASE, headers: AUTHORIZATION });',
    call: (call) => {
      const params = [
        ...(call.pathParameters.length > 0 ? [`path: { ${path(call)} }`] : []),
        ...(call.hasQuery ? [`query: ${json(call.query)}`] : []),
      ];
      const body = call.hasBody ? [`body: ${json(call.body)}`] : [];
      const parse = call.isText ? ["parseAs: 'text' as const"] : [];
      const options = [`params: { ${params.join(', ')} }`, ...body, ...parse].join(', ');
      return `client.${call.method.toUpperCase()}('${call.path}', { ${options} })`;
    },
  },
  'hey-api': {
    imports: (profile) =>
      `import * as sdk from './hey-api-${profile}/index';\nimport { client } from './hey-api-${profile}/client.gen';\n` +
      'client.setConfig({ baseUrl: BASE, headers: AUTHORIZATION, throwOnError: false });',
    call: (call) => {
      const options = [
        ...(call.pathParameters.length > 0 ? [`path: { ${path(call)} }`] : []),
        ...(call.hasQuery ? [`query: ${json(call.query)}`] : []),
        ...(call.hasBody ? [`body: ${json(call.body)}`] : []),
      ];
      const called = `sdk.${call.name}({ ${options.join(', ')} })`;
      return call.onlyStreams ? `drained(${called})` : called;
    },
  },
  orval: {
    imports: (profile) => `import * as api from './orval-${profile}/api';`,
    call: (call) => {
      const pascal = call.name[0].toUpperCase() + call.name.slice(1);
      const options = '{ headers: AUTHORIZATION }';
      // Orval's functions parse every response as JSON, and this one is text, so only the address is used.
      if (call.isText)
        return `fetch(api.get${pascal}Url(${positional(call, ['path', 'query']).join(', ')}), ${options})`;
      return `api.${call.name}(${[...positional(call, ['path', 'body', 'query']), options].join(', ')})`;
    },
  },
  'swagger-typescript-api': {
    imports: (profile) =>
      `import { Api } from './swagger-typescript-api-${profile}/api';\n` +
      'const api = new Api({ baseUrl: BASE, securityWorker: () => ({ headers: AUTHORIZATION }) });\n' +
      'api.setSecurityData(null);',
    call: (call) => `api.api.${call.name}(${positional(call, ['path', 'query', 'body']).join(', ')})`,
  },
};

/**
 * Source of a program that calls every operation with this client. It is strictly typed, so it compiles only when the
 * types fit.
 */
export function driverSource(client, profile, plan) {
  const { imports, call } = DRIVERS[client];
  const calls = plan.map((one) => `await step('${one.id}', () => ${call(one)});`);
  return `import { AUTHORIZATION, BASE, drained, finish, made, step } from './prelude';\n${imports(profile)}\n${calls.join('\n')}\nfinish();\n`;
}
