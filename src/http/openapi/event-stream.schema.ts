import type { Type } from '@nestjs/common';
import { getSchemaPath } from '@nestjs/swagger';
import { type Document, operationsOf, type Schema } from './schemas.js';

/** Extension that holds the name of a stream's schema until the document is complete. */
const STREAM_NAME = 'x-name';

/** The error envelope in the document of every profile. */
export const ERROR_ENVELOPE = '#/components/schemas/ErrorEnvelope';

/** The data of each kind of event; `error` stands for the profile's error envelope. */
export type EventKinds = Readonly<Record<string, Type | 'error'>>;

type EventStreamContent = Record<
  'text/event-stream',
  {
    schema: { [STREAM_NAME]: string; description: string; anyOf: ({ $ref: string } | { type: 'string' })[] };
    example: string;
  }
>;

/**
 * The content of a Server-Sent Events response: the `data` of each kind of event, under one name for all of them, and text
 * for readers and proxies that do not parse the stream.
 */
export function eventStream(name: string, kinds: EventKinds, example: string): EventStreamContent {
  const schemas = Object.values(kinds).map((kind) => ({
    $ref: kind === 'error' ? ERROR_ENVELOPE : getSchemaPath(kind),
  }));
  const names = Object.keys(kinds).map((kind) => `\`${kind}\``);
  const description =
    'Server-Sent Events. The `data` of each is JSON: one of these schemas, in the order of the kinds ' +
    `${names.join(', ')} (the \`event\` field). Each event has an \`id\` to resume after; comments keep the connection in use.`;
  return {
    'text/event-stream': {
      schema: { [STREAM_NAME]: name, description, anyOf: [...schemas, { type: 'string' }] },
      example,
    },
  };
}

/** The models that the document needs for these events. */
export function eventModels(kinds: EventKinds): Type[] {
  return Object.values(kinds).filter((kind) => kind !== 'error');
}

/** Names the event unions of streams among the schemas, so that clients get one type for each. */
export function nameStreams(document: Document): void {
  const schemas = document.components?.schemas ?? {};
  for (const { operation } of operationsOf(document)) {
    for (const response of Object.values(operation.responses)) {
      if (response === undefined || '$ref' in response) continue;
      const stream = response.content?.['text/event-stream'];
      if (stream?.schema === undefined || '$ref' in stream.schema) continue;
      const { [STREAM_NAME]: name, ...schema } = stream.schema as Schema & { [STREAM_NAME]: string };
      schemas[name] = schema;
      stream.schema = { $ref: `#/components/schemas/${name}` };
    }
  }
}
