import { createHash } from 'node:crypto';

const LONGEST = 64;
const HASH_LENGTH = 8;

/**
 * The name under which models see a tool of a server: `server__tool` in `[a-zA-Z0-9_-]{1,64}`. When cleaning or cutting
 * changed it, 8 hexadecimal digits of its hash follow, so that two tools never share one.
 */
export function safeToolName(server: string, tool: string): string {
  const joined = `${server}__${tool}`;
  const clean = joined.replaceAll(/[^a-zA-Z0-9_-]/g, '_');
  if (clean === joined && clean.length <= LONGEST) return clean;
  const hash = createHash('sha256').update(joined).digest('hex').slice(0, HASH_LENGTH);
  return `${clean.slice(0, LONGEST - HASH_LENGTH - 1)}_${hash}`;
}
