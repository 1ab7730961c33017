import type { ErrorCode } from '../../common/errors/gateway-error.js';
import type { ProfileId } from '../profiles/profile.js';
import { REFUSALS } from './refusals.js';
import type { Schema } from './shapes.js';

const CODES = [...new Set<ErrorCode>(Object.values(REFUSALS).map(({ code }) => code))];

const FIELD: Schema = {
  type: 'object',
  required: ['path', 'message'],
  properties: {
    path: { type: 'string', description: 'The dotted path of the field', example: 'attachments.0.data' },
    message: { type: 'string', example: 'must be base64 with padding' },
  },
};

const DETAILS: Schema = {
  type: 'object',
  nullable: true,
  properties: {
    reason: { type: 'string', description: 'A fixed word for the cause', example: 'turn_in_progress' },
    fields: { type: 'array', items: FIELD, description: 'What is wrong with which field' },
  },
};

/** The envelope of every error (docs/specification/api.md, 7): Profile B adds `details`. */
export function errorEnvelopeSchema(profile: ProfileId): Schema {
  const properties: Record<string, Schema> = {
    code: { type: 'string', enum: CODES },
    message: { type: 'string', description: 'What went wrong and what to do next, for people' },
  };
  const error: Schema =
    profile === 'a'
      ? { type: 'object', required: ['code', 'message'], properties }
      : {
          type: 'object',
          required: ['code', 'message', 'details'],
          properties: { ...properties, details: DETAILS },
        };
  return { type: 'object', required: ['error'], properties: { error } };
}
