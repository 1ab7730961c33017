import { type INestApplication, Injectable } from '@nestjs/common';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import type { ProfileId } from '../profiles/profile.js';
import { RESPONSE_HEADERS } from '../response-headers.js';
import { completeOperation } from './complete-operation.js';
import type { DescribedApi, DocumentId } from './described-api.js';
import { nameStreams } from './event-stream.schema.js';
import { errorEnvelopeSchema, REFUSALS, type RefusalStatus, refusalResponse } from './refusals.js';
import {
  closeRequests,
  type Document,
  operationsOf,
  publicName,
  reachableSchemas,
  toJsonSchema,
  withPublicNames,
} from './schemas.js';
import { ADMIN_TAGS, TAGS } from './tags.js';

/** The documents of each profile and of the operators' API. Makes them on first use, and only once each: a second pass would lose operations. */
@Injectable()
export class OpenApiDocuments {
  private readonly made = new Map<DocumentId, Documents>();
  private make: ((id: DocumentId) => Documents) | undefined;

  /** Called once, when the application has its routes. */
  describe(app: INestApplication, api: DescribedApi, version: string): void {
    this.make = (id) => makeDocuments({ app, api, version }, id);
  }

  /** The document as JSON text. Throws before `describe` was called. */
  get(id: DocumentId, kind: keyof Documents = 'openapi'): string {
    const documents = this.made.get(id) ?? this.make?.(id);
    if (documents === undefined) throw new Error('The application has no routes yet.');
    this.made.set(id, documents);
    return documents[kind];
  }
}

const TITLES = {
  a: 'Agent Gateway, Profile A',
  b: 'Agent Gateway, Profile B',
  admin: "Agent Gateway, operators' API",
} as const;
const ADMIN_DESCRIPTION =
  'What operators of the gateway see and do, on the ports of both profiles. Errors are JSON in one envelope, whatever the ' +
  'status. Lists come in pages of `items`, newest first: send `next_cursor` as `cursor` to get the next one; it is null on the last.';
const DESCRIPTION =
  'Sessions, channels, webhooks, MCP, plugins, skills, status, configuration and logs of AI agents.\n\n' +
  'Errors are JSON in one envelope, whatever the status. Lists are newest first. ' +
  'Everything besides requests and responses (the WebSocket of a session, the events of streams, webhook deliveries, messages that ' +
  'programs post to channels) is described at `/asyncapi.json`.';
const TOKEN =
  'An access token of this gateway: `agw_` and 49 characters (`agent-gateway auth token create --name me` makes one). Or a JSON Web Token of an issuer that `[auth.jwt]` names: signed, not expired, for this audience; a good one without a role is 403, and 503 says that the keys of its issuer cannot be had.';

/** The two documents of a profile, as JSON text. */
export interface Documents {
  readonly openapi: string;
  readonly asyncapi: string;
}

interface Described {
  readonly app: INestApplication;
  readonly api: DescribedApi;
  readonly version: string;
}

/** Makes both documents from the routes of the profile and from the models that none of its routes has. */
function makeDocuments({ app, api, version }: Described, id: DocumentId): Documents {
  const config = new DocumentBuilder()
    .setTitle(TITLES[id])
    .setDescription(id === 'admin' ? ADMIN_DESCRIPTION : DESCRIPTION)
    .setVersion(version)
    .setOpenAPIVersion('3.0.3')
    .addServer('/', 'The gateway that this document comes from')
    .setLicense('Apache-2.0', 'https://www.apache.org/licenses/LICENSE-2.0')
    .addBearerAuth({ type: 'http', scheme: 'bearer', bearerFormat: 'agw_… or JWT', description: TOKEN })
    .build();
  const document = SwaggerModule.createDocument(app, config, {
    include: [api.modules[id]],
    extraModels: id === 'admin' ? [] : [...api.asyncModels],
    operationIdFactory: (controller, method) =>
      `${controller.replace(/Controller[AB]?$/, '').toLowerCase()}_${method}`,
  });
  const completed = complete(withPublicNames(document), id);
  if (id === 'admin') return { openapi: JSON.stringify(completed), asyncapi: '' };
  const asyncapi = JSON.stringify(makeAsyncApi(completed, api, id));
  return { openapi: JSON.stringify(withoutModels(completed, api.asyncModels)), asyncapi };
}

function withoutModels(document: Document, models: DescribedApi['asyncModels']): Document {
  const left = new Set(models.map(({ name }) => publicName(name)));
  const kept = Object.entries(document.components?.schemas ?? {}).filter(([name]) => !left.has(name));
  return { ...document, components: { ...document.components, schemas: Object.fromEntries(kept) } };
}

function complete(document: Document, id: DocumentId): Document {
  for (const placed of operationsOf(document)) completeOperation(placed, id);
  closeRequests(document);
  nameStreams(document);
  const used = new Set(operationsOf(document).flatMap(({ operation }) => operation.tags ?? []));
  const envelope = id === 'admin' ? 'b' : id;
  const components = {
    ...document.components,
    schemas: { ...document.components?.schemas, ErrorEnvelope: errorEnvelopeSchema(envelope) },
  };
  const refused = responses(document, envelope);
  return {
    ...document,
    tags: tags(used, id),
    components: { ...components, headers: headers(document.paths, refused), responses: refused },
  };
}

function tags(used: ReadonlySet<string>, id: DocumentId) {
  return Object.entries(id === 'admin' ? ADMIN_TAGS : TAGS)
    .filter(([name]) => used.has(name))
    .map(([name, description]) => ({ name, description }));
}

/** The refusals that some operation refers to. */
function responses(document: Document, profile: ProfileId) {
  const text = JSON.stringify(document.paths);
  const statuses = Object.keys(REFUSALS).map(Number) as RefusalStatus[];
  return Object.fromEntries(
    statuses
      .map((status) => [REFUSALS[status].name, refusalResponse(status, profile)] as const)
      .filter(([name]) => text.includes(`#/components/responses/${name}"`)),
  );
}

/** The headers that some answer refers to. */
function headers(...places: readonly object[]) {
  const text = JSON.stringify(places);
  return Object.fromEntries(
    Object.entries(RESPONSE_HEADERS).filter(([name]) => text.includes(`#/components/headers/${name}"`)),
  );
}

const PORTS = { a: 16830, b: 3120 } as const;
const ASYNC_DESCRIPTION =
  'What the gateway and its clients send each other besides requests and responses. Those are in `/openapi.json`; ' +
  'both documents have the same schemas.';

/** The AsyncAPI document of a profile. `openApi` still has the models that only this one needs. */
function makeAsyncApi(openApi: Document, api: DescribedApi, profile: ProfileId): object {
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
    info: {
      title: `${title}: messages and events`,
      version,
      description: ASYNC_DESCRIPTION,
      license,
      contact,
    },
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
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'agw_… or JWT' } },
    },
  };
}
