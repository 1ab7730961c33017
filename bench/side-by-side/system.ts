import { readFileSync } from 'node:fs';
import { z } from 'zod';

const call = z.strictObject({
  method: z.string().default('POST'),
  /** `{session}` is replaced by the session's id, here and in the body. */
  path: z.string(),
  body: z.unknown(),
});

const description = z.strictObject({
  name: z.string(),
  base: z.url(),
  /** `$NAME` is read from the environment, so that the file holds no secret. */
  headers: z.record(z.string(), z.string()).default({}),
  /** Creates a session; left out for a system without sessions. */
  session: call.extend({ idField: z.string() }).optional(),
  /** One whole turn: the response comes when the model has finished and both sides are stored. */
  turn: call,
  /** Must appear in every answer, to prove that the system asked the model. */
  expect: z.string().default('faster'),
  /** Process id of the server, to measure its CPU. */
  pid: z.number().int().optional(),
});

/** A system under load, as its file describes it. */
export type System = z.infer<typeof description>;

/** Throws a message that says what is wrong with the file. */
export function readSystem(file: string): System {
  const system = description.parse(JSON.parse(readFileSync(file, 'utf8')));
  const headers = Object.entries(system.headers).map(([name, value]) => [name, fromEnvironment(value)]);
  return { ...system, headers: Object.fromEntries(headers) as Record<string, string> };
}

function fromEnvironment(value: string): string {
  return value.replace(/\$([A-Z_]+)/g, (_, name: string) => {
    const found = process.env[name];
    if (found === undefined) throw new Error(`A header needs the environment variable ${name}.`);
    return found;
  });
}
