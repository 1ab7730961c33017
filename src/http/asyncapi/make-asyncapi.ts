import type { DescribedApi } from '../openapi/described-api.js';
import { type Document, reachableSchemas, toJsonSchema } from '../openapi/schemas.js';
import type { ProfileId } from '../profiles/profile.js';

const PORTS = { a: 16830, b: 3120 } as const;
const DESCRIPTION =
  'What the gateway and its clients send each other beside requests and their answers. The requests are in `/openapi.json`; ' +
  'both documents have the same schemas.';

/** The AsyncAPI document of a profile. `openApi` still has the models that only this one needs. */
export function makeAsyncApi(openApi: Document, api: DescribedApi, profile: ProfileId): object {
  const schemas = openApi.components?.schemas ?? {};
  const described = api.asyncChannels(profile, schemas);
  const channels = Object.fromEntries(Object.entries(described).map(([name, one]) => [name, one.channel]));
  const operations = Object.assign({}, ...Object.values(described).map((one) => one.operations)) as object;
  const names = reachableSchemas(channels, schemas);
  const kept = Object.entries(schemas).filter(([name]) => names.has(name));
  const { title, version, license, contact } = openApi.info;
  return {
    asyncapi: '3.0.0',
    id: `urn:agent-gateway:profile-${profile}`,
    info: { title: `${title}: messages and events`, version, description: DESCRIPTION, license, contact },
    defaultContentType: 'application/json',
    servers: {
      gateway: {
        host: `localhost:${PORTS[profile]}`,
        protocol: 'ws',
        description: 'The port of this profile; HTTP and WebSocket share it',
        security: [{ $ref: '#/components/securitySchemes/bearer' }],
      },
    },
    channels: toJsonSchema(channels),
    operations,
    components: {
      schemas: toJsonSchema(Object.fromEntries(kept)),
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'agw_…' } },
    },
  };
}
