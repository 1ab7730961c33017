import { parentPort } from 'node:worker_threads';
import { sentenceOf } from '../../../common/errors/error-text.js';
import { type CompiledSchema, CompiledSchemas } from './compiled-schemas.js';
import type { SchemaOrder, SchemaReport } from './schema-messages.js';

// The entry of a thread that compiles schemas and checks values against them, one order after the other.

const MAX_SENTENCE_CHARS = 500;
const compiler = new CompiledSchemas();
const compiled = new Map<string, CompiledSchema>();
const post = (report: SchemaReport): void => parentPort?.postMessage(report);

function prepared({ key, schema }: SchemaOrder): CompiledSchema | undefined {
  try {
    const ready = compiled.get(key) ?? compiler.compile(schema ?? {});
    compiled.set(key, ready);
    post({ kind: 'compiled' });
    return ready;
  } catch (error) {
    post({ kind: 'broken', problem: sentenceOf(error).slice(0, MAX_SENTENCE_CHARS) });
    return undefined;
  }
}

parentPort?.on('message', (order: SchemaOrder) => {
  for (const key of order.forget) {
    compiled.get(key)?.forget();
    compiled.delete(key);
  }
  const ready = prepared(order);
  if (ready !== undefined && order.check !== undefined)
    post({ kind: 'checked', problem: ready.problem(order.check.value) });
});
post({ kind: 'ready' });
