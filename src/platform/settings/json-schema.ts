import { z } from 'zod';
import { markLabels } from './key-labels.js';
import type { KeyMarks } from './key-marks.js';
import { keyMarks, settingsSchema } from './settings.schema.js';

/** A node of the configuration's JSON Schema (2020-12), as far as it is read here. The marks are `x-marks` and, in words, `$comment`. */
export interface SettingsJsonSchema {
  readonly type?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly properties?: Readonly<Record<string, SettingsJsonSchema>>;
  readonly items?: SettingsJsonSchema;
  readonly additionalProperties?: SettingsJsonSchema | boolean;
  readonly 'x-marks'?: KeyMarks;
}

/** The JSON Schema of the configuration file, for editors and for the tree of keys. */
export function jsonSchema(schema: z.ZodType = settingsSchema): SettingsJsonSchema {
  return z.toJSONSchema(schema, {
    io: 'input',
    override: ({ zodSchema, jsonSchema: node }) => {
      const marks = keyMarks.get(zodSchema);
      if (marks !== undefined) {
        node['x-marks'] = marks;
        node.$comment = markLabels(marks).join('; ');
      }
      if (marks?.secret) node.writeOnly = true;
      if (node.type === 'object' && node.properties !== undefined) delete node.default;
    },
  }) as SettingsJsonSchema;
}
