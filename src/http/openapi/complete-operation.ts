import { ADMIN_PREFIX } from '../profiles/faces.js';
import { API_PREFIX } from '../profiles/profile.js';
import { COMMON_HEADERS, headerReferences } from '../response-headers.js';
import { EXTENSION, REFUSES } from './answers.decorator.js';
import type { DocumentId } from './described-api.js';
import { type RefusalStatus, refusalReference } from './refusals.js';
import type { Operation, ResponseObject, RoutedOperation } from './schemas.js';
import { ADMIN_TAGS, PATH_PARAMETERS, TAGS } from './tags.js';

/** Refusals that any request may get. */
const ALWAYS: readonly RefusalStatus[] = [400, 405, 408, 414, 429, 431, 500, 503];
const WITH_TOKEN: readonly RefusalStatus[] = [401, 403];
const WITH_PATH_PARAMETER: readonly RefusalStatus[] = [404];
const WITH_IDEMPOTENCY_KEY: readonly RefusalStatus[] = [409];
const WITH_BODY: readonly RefusalStatus[] = [413, 415];

const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'Does this once: for 24 hours the same key with the same body gets the first answer again, with ' +
    '`Idempotency-Replayed: true`; with another body, or while the first is still being served, 409',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[!-~]+$' },
} as const;

const NOT_MODIFIED: ResponseObject = {
  description: 'The resource still is what `If-None-Match` names',
  headers: headerReferences(COMMON_HEADERS),
};

/** Adds what every operation has and no controller declares: tag, required scope, parameters, headers and refusals. */
export function completeOperation({ path, method, operation }: RoutedOperation, id: DocumentId): void {
  const area = areaOf(path, id);
  operation.tags = [area];
  markExtension(operation, id);
  describeAccess(operation);
  describePathParameters(operation, area);
  const isRemembered = method === 'post' || method === 'patch';
  if (isRemembered) operation.parameters = [...(operation.parameters ?? []), IDEMPOTENCY_KEY];
  addHeaders(operation, isRemembered);
  if (method === 'get') addNotModified(operation);
  addRefusals(operation, isRemembered);
}

function areaOf(path: string, id: DocumentId): string {
  const [prefix, tags] = id === 'admin' ? [ADMIN_PREFIX, ADMIN_TAGS] : [API_PREFIX, TAGS];
  const area = path.slice(prefix.length + 2).split('/')[0] ?? '';
  if (!Object.hasOwn(tags, area)) throw new Error(`${path}: describe its tag "${area}" in tags.ts.`);
  return area;
}

function markExtension(operation: Operation, id: DocumentId): void {
  const marked = operation as { [EXTENSION]?: DocumentId | true };
  if (marked[EXTENSION] === id) marked[EXTENSION] = true;
  else delete marked[EXTENSION];
}

/** An operation that needs no token must say so: the document's default is a token. */
function describeAccess(operation: Operation): void {
  const tokenNeed = operation.security === undefined ? 'Needs no token.' : 'Needs any token that is valid.';
  operation.security ??= [];
  const scope = (operation as { 'x-required-scope'?: string })['x-required-scope'];
  const need = scope === undefined ? tokenNeed : `Needs the scope \`${scope}\`.`;
  operation.description = [operation.description, need].filter(Boolean).join('\n\n');
}

function describePathParameters(operation: Operation, area: string): void {
  for (const parameter of operation.parameters ?? []) {
    if ('$ref' in parameter || parameter.in !== 'path') continue;
    const known = PATH_PARAMETERS[`${area}.${parameter.name}`];
    if (known === undefined) throw new Error(`Describe ${area}.${parameter.name} in PATH_PARAMETERS.`);
    parameter.description ??= known.description;
    if (known.example !== undefined) parameter.example ??= known.example;
  }
}

function addHeaders(operation: Operation, isRemembered: boolean): void {
  for (const [status, response] of Object.entries(operation.responses)) {
    if (response === undefined || '$ref' in response) continue;
    const replayed = isRemembered && status.startsWith('2') ? (['Idempotency-Replayed'] as const) : [];
    response.headers = { ...response.headers, ...headerReferences([...replayed, ...COMMON_HEADERS]) };
  }
}

/** Every response but a stream has an entity for conditional requests (RFC 9110, 13.1.2). */
function addNotModified(operation: Operation): void {
  const good = operation.responses['200'];
  if (good === undefined || '$ref' in good || good.content === undefined) return;
  if (Object.keys(good.content).every((type) => type === 'text/event-stream')) return;
  const etag = good.headers?.['ETag'];
  const headers = { ...NOT_MODIFIED.headers, ...(etag === undefined ? {} : { ETag: etag }) };
  operation.responses['304'] = { ...NOT_MODIFIED, headers };
}

function addRefusals(operation: Operation, isRemembered: boolean): void {
  const own = (operation as { [REFUSES]?: readonly RefusalStatus[] })[REFUSES] ?? [];
  delete (operation as { [REFUSES]?: unknown })[REFUSES];
  const hasPathParameter =
    operation.parameters?.some((one) => !('$ref' in one) && one.in === 'path') === true;
  const statuses = new Set<RefusalStatus>([
    ...ALWAYS,
    ...(operation.security?.length === 0 ? [] : WITH_TOKEN),
    ...(hasPathParameter ? WITH_PATH_PARAMETER : []),
    ...(isRemembered ? WITH_IDEMPOTENCY_KEY : []),
    ...(operation.requestBody === undefined ? [] : WITH_BODY),
    ...own,
  ]);
  for (const status of statuses) operation.responses[String(status)] ??= refusalReference(status);
}
