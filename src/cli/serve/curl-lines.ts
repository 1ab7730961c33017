type BaseUrls = Partial<Record<'a' | 'b', string>>;

const TOKEN = '-H "Authorization: Bearer $TOKEN"';
const JSON_BODY = `-H 'Content-Type: application/json'`;

/**
 * Three lines for a shell in which TOKEN is set: make a session, say something in it, see it (through the other
 * profile when both are served).
 */
export function curlLines({ a, b }: BaseUrls): string[] {
  const first = a ?? b;
  if (first === undefined) return [];
  const second = b ?? first;
  return [
    `SESSION=$(curl -s -X POST ${first}/sessions ${TOKEN} | grep -o 'sess_[0-9a-z]*')`,
    `curl -s ${first}/sessions/$SESSION/messages ${TOKEN} ${JSON_BODY} -d '{"content":"Hello"}'`,
    `curl -s ${second}/sessions/$SESSION ${TOKEN}`,
  ];
}
