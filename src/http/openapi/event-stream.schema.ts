import type { Type } from '@nestjs/common';
import { getSchemaPath } from '@nestjs/swagger';

/** Where the schema of a stream keeps its name, until the document is complete. */
export const STREAM_NAME = 'x-name';

/** Where the document of every profile has its error envelope. */
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
 * The content of an answer that is Server-Sent Events: what the `data` of each kind holds, under one name for all of them. The whole stream is text, which
 * stands beside them for readers and proxies that do not take it apart.
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
