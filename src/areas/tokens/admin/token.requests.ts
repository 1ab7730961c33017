import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { ArrayMaxSize, ArrayMinSize, IsArray, IsIn, IsString, ValidateBy } from 'class-validator';
import { BadFields, BadRequest } from '../../../common/errors/gateway-error.js';
import { Optional, TextLength, Variants } from '../../../http/validation/field.decorator.js';
import { parseExpiry } from '../../../platform/tokens/api-token.js';
import {
  type GrantedScope,
  parseScopes,
  SCOPE_PRESETS,
  SCOPES,
  type ScopePreset,
} from '../../../platform/tokens/scopes.js';
import type { RotationInput } from '../../../platform/tokens/tokens.service.js';
import type { NewTokenInput } from '../token-admin.service.js';

const PRESETS = Object.keys(SCOPE_PRESETS) as ScopePreset[];

/** Names and users are shown in terminals and logs, where control and invisible characters mislead. */
const Printable = (max: number) =>
  applyDecorators(
    TextLength(1, max),
    ValidateBy({
      name: 'printable',
      validator: {
        validate: (value: unknown) =>
          typeof value === 'string' && !/\p{C}/u.test(value) && value.trim() === value,
        defaultMessage: () => 'must have printable characters only, without blanks around them',
      },
    }),
  );

const ExpiresIn = () =>
  applyDecorators(
    ApiPropertyOptional({
      example: '30d',
      description:
        'Such as `90d`, `12h`, `30m`, `45s`, or `never`; 90 days unless given, or as long as your own token if that is less',
    }),
    Optional(),
    TextLength(1, 16),
  );

/** POST /admin/v1/tokens. */
@Variants('oneOf', {
  TokenWithScopes: { required: ['scopes'], without: ['preset'] },
  TokenOfPreset: { required: ['preset'], without: ['scopes'] },
})
export class CreateTokenRequest {
  @ApiProperty({ example: 'ci', description: 'Its name in lists and logs, and in settings for it' })
  @Printable(128)
  name!: string;

  @ApiPropertyOptional({
    enum: [...SCOPES, '*'],
    isArray: true,
    example: ['sessions:read', 'sessions:write'],
    minItems: 1,
    maxItems: 100,
  })
  @Optional()
  @IsString({ each: true, message: 'must be a list of strings' })
  @ArrayMaxSize(100, { message: 'must have at most 100 items' })
  @ArrayMinSize(1, { message: 'must have at least one item' })
  @IsArray({ message: 'must be a list of strings' })
  scopes?: string[];

  @ApiPropertyOptional({ enum: PRESETS, description: 'A usual set of scopes' })
  @Optional()
  @IsIn(PRESETS, { message: `must be one of ${PRESETS.join(', ')}` })
  preset?: ScopePreset;

  @ApiPropertyOptional({
    description: 'The only user whose sessions it sees and for whom tools act; needs `users:act_as`',
  })
  @Optional()
  @Printable(256)
  user_id?: string;

  @ExpiresIn()
  expires_in?: string;
}

/** Each can be sent unchanged. */
export const CREATE_EXAMPLES = {
  scopes: {
    summary: 'Opens sessions and reads them, for 30 days',
    value: { name: 'ci', scopes: ['sessions:read', 'sessions:write'], expires_in: '30d' },
  },
  preset: {
    summary: 'Reads everything but tokens and the audit',
    value: { name: 'wallboard', preset: 'viewer' },
  },
};

/** POST /admin/v1/tokens/:id/rotate. */
export class RotateTokenRequest {
  @ExpiresIn()
  expires_in?: string;

  @ApiPropertyOptional({
    example: '24h',
    description:
      'How long the old token works beside the new one, such as `24h`; it ends at once unless given',
  })
  @Optional()
  @TextLength(1, 16)
  keep_old?: string;
}

export const ROTATE_EXAMPLES = {
  kept: { summary: 'The old one works for another hour', value: { keep_old: '1h' } },
  at_once: { summary: 'The old one ends at once', value: {} },
};

/** Throws `BadFields` for unknown scopes, for both scopes and preset or neither, and for an invalid time. */
export function newTokenInput({
  name,
  scopes,
  preset,
  user_id,
  expires_in,
}: CreateTokenRequest): NewTokenInput {
  if ((scopes === undefined) === (preset === undefined)) {
    throw new BadFields([{ path: 'scopes', message: 'give either scopes or a preset' }]);
  }
  const granted: readonly GrantedScope[] =
    preset === undefined ? inField('scopes', () => parseScopes(scopes ?? [])) : SCOPE_PRESETS[preset];
  return { name, scopes: granted, boundUserId: user_id ?? null, expiresAt: expiryOf(expires_in) };
}

/** Throws `BadFields` for an invalid time. */
export function rotationOf({ expires_in, keep_old }: RotateTokenRequest): RotationInput {
  const now = new Date(0);
  const kept = keep_old === undefined ? now : inField('keep_old', () => parseExpiry(keep_old, now));
  if (kept === null) {
    throw new BadFields([
      { path: 'keep_old', message: 'must be a time such as 24h: the old token has to end' },
    ]);
  }
  return { expiresAt: expiryOf(expires_in), keepOldSecs: kept.getTime() / 1000 };
}

function expiryOf(text: string | undefined): Date | null | undefined {
  return text === undefined ? undefined : inField('expires_in', () => parseExpiry(text));
}

function inField<Value>(path: string, parse: () => Value): Value {
  try {
    return parse();
  } catch (error) {
    if (error instanceof BadRequest) throw new BadFields([{ path, message: error.message }]);
    throw error;
  }
}
