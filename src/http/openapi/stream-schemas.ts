import { STREAM_NAME } from './event-stream.schema.js';
import { type Document, operationsOf, type Schema } from './shapes.js';

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
