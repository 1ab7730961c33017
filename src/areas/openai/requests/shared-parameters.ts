import { z } from 'zod';
import type { ModelTool, ResponseFormat, SamplingOptions, ToolChoice } from '../../models/models.api.js';
import { schemaBoundsProblem } from '../../tools/tools.api.js';
import type { MessageOptions } from '../../turns/turns.api.js';
import { InvalidParameter, UnsupportedParameter } from '../openai.errors.js';
import { only } from './checked-body.js';

const MAX_TEXT = 1_048_576;
const MAX_TOOLS = 128;
export const toolName = (): z.ZodString =>
  z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/, 'must be 1 to 64 of a-z, A-Z, 0-9, _ and -');
export const text = (max = MAX_TEXT): z.ZodString =>
  z.string().max(max, `must have at most ${max} characters`);
export const jsonObject = (): z.ZodRecord<z.ZodString, z.ZodUnknown> => z.record(z.string(), z.unknown());

/** What Chat Completions and Responses have in common. */
export const sharedParameters = {
  model: z.string().min(1, 'must name a model; GET /v1/models lists them').max(512),
  stream: z.boolean().optional(),
  temperature: z.number().min(0).max(2).optional(),
  top_p: z.number().min(0).max(1).optional(),
  parallel_tool_calls: z.boolean().optional(),
  prompt_cache_key: z.string().max(512).optional(),
  safety_identifier: z.string().max(512).optional(),
  user: z.string().min(1).max(512).optional(),
  service_tier: z.string().optional(),
  top_logprobs: z.number().optional(),
};

/** A function that the caller runs. */
export const functionTool = z.strictObject({
  name: toolName(),
  description: text(16_384).nullish(),
  parameters: jsonObject().nullish(),
  /** Models get the schema as it is; whether they can be held to it depends on their provider. */
  strict: z.boolean().nullish(),
});

export interface SharedRequest {
  readonly temperature?: number | undefined;
  readonly top_p?: number | undefined;
  readonly parallel_tool_calls?: boolean | undefined;
  readonly service_tier?: string | undefined;
  readonly top_logprobs?: number | undefined;
}

/** Throws for values other than the default of parameters that nothing here supports. */
export function refuseOtherThanDefault(body: SharedRequest): void {
  if (body.service_tier !== undefined && body.service_tier !== 'auto' && body.service_tier !== 'default')
    throw only('service_tier', '"auto"');
  if (body.top_logprobs !== undefined && body.top_logprobs !== 0) throw only('top_logprobs', '0');
}

/** The caller's tools as models see them. Throws `InvalidParameter`. */
export function callerTools(
  functions: readonly z.infer<typeof functionTool>[],
  pathOf: (index: number) => string,
): readonly ModelTool[] {
  if (functions.length > MAX_TOOLS)
    throw new InvalidParameter({ path: 'tools', message: `must have at most ${MAX_TOOLS} items` });
  const names = new Set<string>();
  return functions.map(({ name, description, parameters }, index) => {
    const path = pathOf(index);
    if (names.has(name)) throw new InvalidParameter({ path: `${path}.name`, message: 'stands twice' });
    names.add(name);
    const schema = { type: 'object', properties: {}, ...parameters };
    const problem = schemaBoundsProblem(schema);
    if (problem !== undefined) throw new InvalidParameter({ path: `${path}.parameters`, message: problem });
    return { name, description: description ?? '', inputSchema: schema };
  });
}

export const jsonSchemaFormat = z.strictObject({
  name: toolName(),
  schema: jsonObject(),
  strict: z.boolean().nullish(),
  description: text(16_384).nullish(),
});

/** Throws `InvalidParameter` for a schema that is too large. */
export function responseFormat(
  { name, description, schema, strict }: z.infer<typeof jsonSchemaFormat>,
  path: string,
): ResponseFormat {
  const problem = schemaBoundsProblem(schema);
  if (problem !== undefined) throw new InvalidParameter({ path, message: problem });
  return {
    name,
    schema,
    ...(typeof description === 'string' && { description }),
    ...(typeof strict === 'boolean' && { strict }),
  };
}

/** How much to say is left to the model; refuses any other value. */
export const verbosity = z.literal('medium', 'only "medium" is supported here').nullish();

/** Any JSON object. */
export const ANY_OBJECT: ResponseFormat = { name: 'json', schema: { type: 'object' } };

interface Wanted {
  readonly sampling: SamplingOptions;
  readonly maxOutputTokens: number | undefined;
  readonly responseFormat: ResponseFormat | undefined;
  readonly instructions: string;
  readonly callerTools: readonly ModelTool[];
}

/** The options that were set, without those that were left out. */
export function messageOptions(wanted: Wanted): MessageOptions {
  const { sampling, maxOutputTokens, responseFormat: format, instructions, callerTools: tools } = wanted;
  return {
    ...(Object.keys(sampling).length > 0 && { sampling }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(format !== undefined && { responseFormat: format }),
    ...(instructions !== '' && { instructions }),
    ...(tools.length > 0 && { callerTools: tools }),
  };
}

/** Refuses a parameter that the agent's settings decide. */
export function setByOperator(path: string): UnsupportedParameter {
  return new UnsupportedParameter(path, 'is set for the agent by its operator; leave it out');
}

export function samplingOf(
  body: SharedRequest,
  stop: readonly string[] | undefined,
  toolChoice: ToolChoice | undefined,
): SamplingOptions {
  return {
    ...(body.temperature !== undefined && { temperature: body.temperature }),
    ...(body.top_p !== undefined && { topP: body.top_p }),
    ...(stop !== undefined && stop.length > 0 && { stop }),
    ...(toolChoice !== undefined && { toolChoice }),
    ...(body.parallel_tool_calls === false && { parallelToolCalls: false }),
  };
}

/** Throws for more tokens than the agent may use. */
export function refuseTooLong(most: number, wanted: number | undefined, path: string): void {
  if (wanted !== undefined && wanted > most)
    throw new UnsupportedParameter(path, `must be at most ${most}, as the settings of the agent say`);
}
