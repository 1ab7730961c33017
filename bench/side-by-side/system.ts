import { readFileSync } from 'node:fs';
import { z } from 'zod';

const call = z.strictObject({
  method: z.string().default('POST'),
  /** `{session}` stands for the session's id, here and in the body. */
  path: z.string(),
  body: z.unknown(),
});

const description = z.strictObject({
  name: z.string(),
  base: z.url(),
  /** `$NAME` is taken from the environment, so that no secret has to stand in the file. */
  headers: z.record(z.string(), z.string()).default({}),
  /** Makes a session; left out where a system has none. */
  session: call.extend({ idField: z.string() }).optional(),
  /** One whole turn: the answer comes when the model has said everything, and both sides are stored. */
  turn: call,
  /** What every answer must contain, so that nobody is measured who did not ask the model. */
  expect: z.string().default('faster'),
  /** Of the server's process, for its CPU. */
  pid: z.number().int().optional(),
});

/** A system under load, as its file describes it. */
export type System = z.infer<typeof description>;

/** Throws what is wrong with the file. */
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
