import { type INestApplication, Injectable } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { API_PREFIX, type ProfileId } from './profile.js';
import { PROFILE_MODULES } from './profile-modules.js';

const TITLES = { a: 'Agent Gateway, Profile A', b: 'Agent Gateway, Profile B' } as const;
const METHODS = ['get', 'post', 'patch', 'delete'] as const;

/** The OpenAPI document of each profile, made when somebody asks for it first: one per profile, or operations get lost. */
@Injectable()
export class OpenApiDocuments {
  private readonly documents = new Map<ProfileId, string>();
  private make: ((profile: ProfileId) => OpenAPIObject) | undefined;

  /** Called once, when the application has its routes. */
  describe(app: INestApplication, version: string): void {
    this.make = (profile) => createDocument(app, profile, version);
  }

  /** The document as JSON text. */
  get(profile: ProfileId): string {
    const made = this.documents.get(profile) ?? JSON.stringify(this.make?.(profile));
    this.documents.set(profile, made);
    return made;
  }
}

function createDocument(app: INestApplication, profile: ProfileId, version: string): OpenAPIObject {
  const config = new DocumentBuilder()
    .setTitle(TITLES[profile])
    .setDescription(
      'Sessions, channels, webhooks, MCP, plugins, skills, status, configuration and logs of AI agents.',
    )
    .setVersion(version)
    .addServer('/', 'The gateway that this document comes from')
    .setLicense('Apache-2.0', 'https://www.apache.org/licenses/LICENSE-2.0')
    .addBearerAuth({ type: 'http', scheme: 'bearer', description: 'agent-gateway auth token create' })
    .build();
  const document = SwaggerModule.createDocument(app, config, {
    include: [PROFILE_MODULES[profile]],
    operationIdFactory: (controller, method) =>
      `${controller.replace(/Controller[AB]$/, '').toLowerCase()}_${method}`,
  });
  return withSharedParts(document, profile);
}

type Operation = NonNullable<OpenAPIObject['paths'][string]['post']>;

/** What every POST and PATCH takes. */
function withIdempotencyKey(operation: Operation): void {
  operation.parameters = [
    ...(operation.parameters ?? []),
    {
      name: 'Idempotency-Key',
      in: 'header',
      required: false,
      description:
        'Does this once: for 24 hours the same key with the same body gets the first answer again, with ' +
        'Idempotency-Replayed: true; with another body, or while the first is still being served, 409',
      schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[!-~]+$' },
    },
  ];
  for (const [status, response] of Object.entries(operation.responses)) {
    if (!status.startsWith('2') || response === undefined || '$ref' in response) continue;
    response.headers = {
      ...response.headers,
      'Idempotency-Replayed': {
        description: 'true when this is the answer of an earlier request with the same Idempotency-Key',
        schema: { type: 'string', enum: ['true'] },
      },
    };
  }
}

/** What every operation has: a tag for its area, and errors in the profile's envelope. */
function withSharedParts(document: OpenAPIObject, profile: ProfileId): OpenAPIObject {
  for (const [path, item] of Object.entries(document.paths)) {
    for (const method of METHODS) {
      const operation = item[method];
      if (operation === undefined) continue;
      operation.summary ??= goodAnswer(operation.responses);
      // An operation that asks for no token has to say so: silence means the document's default.
      operation.security ??= [];
      operation.tags = [path.slice(API_PREFIX.length + 2).split('/')[0] ?? ''];
      if (method === 'post' || method === 'patch') withIdempotencyKey(operation);
      const error = { $ref: '#/components/responses/Error' };
      operation.responses = { ...operation.responses, '4XX': error, '5XX': error };
    }
  }
  document.components = {
    ...document.components,
    schemas: { ...document.components?.schemas, ErrorEnvelope: errorEnvelope(profile) },
    responses: {
      Error: {
        description: 'What went wrong, in the error envelope',
        content: { 'application/json': { schema: { $ref: '#/components/schemas/ErrorEnvelope' } } },
      },
    },
  };
  return document;
}

/** What the operation is for, in the words of its success. */
function goodAnswer(responses: Readonly<Record<string, object | undefined>>): string {
  const [, good] = Object.entries(responses).find(([status]) => status.startsWith('2')) ?? [];
  return good !== undefined && 'description' in good ? String(good.description) : '';
}

type SchemaObject = NonNullable<NonNullable<OpenAPIObject['components']>['schemas']>[string];

function errorEnvelope(profile: ProfileId): SchemaObject {
  const codes = [
    'bad_request',
    'unauthorized',
    'forbidden',
    'not_found',
    'conflict',
    'rate_limited',
    'internal_error',
  ];
  const field = {
    type: 'object',
    required: ['path', 'message'],
    properties: { path: { type: 'string' }, message: { type: 'string' } },
  };
  const details = {
    type: 'object',
    nullable: true,
    properties: { reason: { type: 'string' }, fields: { type: 'array', items: field } },
  };
  const properties = { code: { type: 'string', enum: codes }, message: { type: 'string' } };
  const error =
    profile === 'a'
      ? { type: 'object', required: ['code', 'message'], properties }
      : { type: 'object', required: ['code', 'message', 'details'], properties: { ...properties, details } };
  return { type: 'object', required: ['error'], properties: { error } };
}
