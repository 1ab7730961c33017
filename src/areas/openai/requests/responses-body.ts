import { z } from 'zod';
import {
  functionTool,
  jsonObject,
  jsonSchemaFormat,
  sharedParameters,
  text,
  toolName,
  verbosity,
} from './shared-parameters.js';

const MAX_ITEMS = 4096;
/** Answers contain no reasoning items that it could be added to. */
const INCLUDED = 'may only be "reasoning.encrypted_content" here';

const id = (): z.ZodOptional<z.ZodNullable<z.ZodString>> => z.string().max(128).nullish();
const status = (): z.ZodOptional<z.ZodNullable<z.ZodString>> => z.string().max(32).nullish();
const inputText = z.strictObject({ type: z.literal('input_text'), text: text() });
const userPart = z.union([
  inputText,
  z.strictObject({
    type: z.literal('input_image'),
    image_url: z.string().min(1),
    detail: z.literal('auto').nullish(),
  }),
  z.strictObject({
    type: z.literal('input_file'),
    file_data: z.string().min(1).nullish(),
    file_url: z.string().min(1).nullish(),
    filename: z.string().max(128).nullish(),
  }),
]);
const outputPart = z.union([
  z.strictObject({
    type: z.literal('output_text'),
    text: text(),
    annotations: z.array(z.unknown()).max(0, 'is not supported here; leave it out').nullish(),
    logprobs: z.array(z.unknown()).max(0, 'is not supported here; leave it out').nullish(),
  }),
  z.strictObject({ type: z.literal('refusal'), refusal: text() }),
]);
const item = z.union([
  z.strictObject({
    type: z.literal('message').optional(),
    role: z.enum(['user', 'system', 'developer']),
    content: z.union([text(), z.array(userPart).min(1).max(256)]),
    id: id(),
    status: status(),
  }),
  z.strictObject({
    type: z.literal('message').optional(),
    role: z.literal('assistant'),
    content: z.union([text(), z.array(outputPart).max(256)]),
    id: id(),
    status: status(),
  }),
  z.strictObject({
    type: z.literal('function_call'),
    call_id: z.string().min(1).max(128),
    name: toolName(),
    arguments: text(),
    id: id(),
    status: status(),
  }),
  z.strictObject({
    type: z.literal('function_call_output'),
    call_id: z.string().min(1).max(128),
    output: z.union([text(), z.array(inputText).max(256)]),
    id: id(),
    status: status(),
  }),
  z.strictObject({ type: z.literal('item_reference'), id: z.string().min(1).max(128) }),
]);

/** What `POST /v1/responses` accepts. */
export const responsesBody = z.strictObject({
  ...sharedParameters,
  input: z.union([text(), z.array(item).min(1).max(MAX_ITEMS)]),
  instructions: text(262_144).optional(),
  previous_response_id: z.string().min(1).max(128).optional(),
  background: z.boolean().optional(),
  store: z.boolean().optional(),
  metadata: z.record(z.string().max(64), z.string().max(512)).optional(),
  tools: z
    .array(
      z.strictObject({
        type: z.literal('function', 'only "function" is supported here'),
        ...functionTool.shape,
      }),
    )
    .optional(),
  tool_choice: z
    .union([
      z.enum(['none', 'auto', 'required']),
      z.strictObject({ type: z.literal('function'), name: toolName() }),
    ])
    .optional(),
  max_output_tokens: z.int().min(1).max(1_000_000).optional(),
  text: z
    .strictObject({
      format: z
        .union([
          z.strictObject({ type: z.enum(['text', 'json_object']) }),
          jsonSchemaFormat.extend({ type: z.literal('json_schema') }),
        ])
        .optional(),
      verbosity,
    })
    .optional(),
  truncation: z.literal('auto', 'only "auto" is supported here').optional(),
  include: z.array(z.literal('reasoning.encrypted_content', INCLUDED)).max(8).optional(),
  reasoning: jsonObject().optional(),
  stream_options: z.strictObject({ include_obfuscation: z.literal(false).optional() }).optional(),
});
export type ResponsesBody = z.infer<typeof responsesBody>;
export type Item = z.infer<typeof item>;
export type UserPart = z.infer<typeof userPart>;
