import { ApiProperty } from '@nestjs/swagger';
import type { Page } from '../../../http/paging/keyset-list.js';
import type { AuditRow } from '../../../platform/audit-log/audit-chain.js';

/** A row of the audit; never a text of a message, an argument of a tool or a secret. */
class AuditRowView {
  @ApiProperty({ example: '4711' })
  id!: string;

  @ApiProperty({ format: 'date-time' })
  at!: string;

  @ApiProperty({
    description: 'A token, a user, a person at the command line, or the gateway',
    example: 'laptop',
  })
  actor!: string;

  @ApiProperty({ type: 'string', nullable: true, description: 'Null for what did not come over the network' })
  address!: string | null;

  @ApiProperty({ description: 'A noun and a past participle', example: 'token.created' })
  action!: string;

  @ApiProperty({ example: 'ci' })
  subject!: string;

  @ApiProperty({ example: 'success' })
  result!: string;

  @ApiProperty({ type: 'object', additionalProperties: true, description: 'Further facts' })
  details!: Readonly<Record<string, unknown>>;
}

export class AuditPageView {
  @ApiProperty({ type: [AuditRowView], description: 'Newest first' })
  items!: AuditRowView[];

  @ApiProperty({
    type: 'string',
    nullable: true,
    description: 'The `cursor` of the next page; null on the last',
  })
  next_cursor!: string | null;
}

function presentRow({
  id,
  at,
  actor,
  address,
  action,
  subject,
  result,
  sessionId,
  details,
}: AuditRow): AuditRowView {
  const session = sessionId === null ? {} : { session_id: sessionId };
  return {
    id,
    at: at.toISOString(),
    actor,
    address,
    action,
    subject,
    result,
    details: { ...details, ...session },
  };
}

export function presentAuditPage({ items, nextCursor }: Page<AuditRow>): AuditPageView {
  return { items: items.map(presentRow), next_cursor: nextCursor };
}
