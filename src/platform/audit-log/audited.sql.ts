/** What a statement writes into the audit; every field but `action` is an SQL expression. */
interface AuditedSql {
  readonly action: string;
  readonly subject: string;
  /** The parameter that says who acts and from where: the value is `originJson()`. */
  readonly origin: string;
  /** The rows that were changed: one entry for each. */
  readonly from: string;
  /** Of type jsonb; never texts of messages nor arguments of tools. */
  readonly details?: string;
  readonly session?: string;
}

/** An entry of the audit, as part of the statement that makes the change, so that neither exists without the other. */
export function auditedSql({
  action,
  subject,
  origin,
  from,
  details = `'{}'::jsonb`,
  session = 'NULL',
}: AuditedSql): string {
  const name = action.startsWith('(') ? action : `'${action}'`;
  return `
    INSERT INTO audit_entries (action, actor, address, target, outcome, session_id, details)
    SELECT ${name}, ${origin}::jsonb ->> 'actor', ${origin}::jsonb ->> 'address', ${subject}, 'success', ${session},
      ${details} || jsonb_strip_nulls(jsonb_build_object('by_token', ${origin}::jsonb -> 'tokenId'))
    FROM ${from}`;
}
