/** The largest body of other routes than messages. */
const MOST_OTHER_BYTES = 1_048_576;
/** Just below the bound, so that the body is parsed. */
const MANY = 49_000;
const MANY_KEYS = 9900;

export interface Attack {
  readonly what: string;
  readonly method: string;
  readonly path: string;
  readonly body: Uint8Array<ArrayBuffer>;
  readonly status: number;
}

/** `head`, as many `unit`s as fit, `tail`: at most `bytes` long. */
function filled(bytes: number, head: string, unit: string, tail: string): Uint8Array<ArrayBuffer> {
  const units = Math.max(0, Math.floor((bytes - head.length - tail.length) / unit.length));
  return new Uint8Array(Buffer.from(head + unit.repeat(units) + tail));
}

/** A message with one file. */
export function ordinaryBody(bytes: number): Uint8Array<ArrayBuffer> {
  const most = Math.min(bytes, 27_900_000);
  return filled(
    most,
    '{"content":"A file","attachments":[{"type":"file","name":"a.bin","mime_type":"application/octet-stream","data":"',
    'QUJD',
    '"}]}',
  );
}

/** Bodies of about `bytes` that are refused, each expensive for a reader that parses first or looks at everything. */
export function attacks(messages: string, bytes: number): Attack[] {
  const bad = (what: string, path: string, body: Uint8Array<ArrayBuffer>, method = 'POST'): Attack => ({
    what,
    method,
    path,
    body,
    status: 400,
  });
  const lists = '[],'.repeat(MANY);
  const keys = Array.from({ length: MANY_KEYS }, (_, i) => `"key-${i}":1`).join(',');
  const kinds = [
    bad('lists in an unknown field', messages, filled(bytes, '{"content":"x","x":[', '[],', '[]]}')),
    bad('lists for attachments', messages, filled(bytes, '{"attachments":[', '[],', '[]]}')),
    bad('numbers', messages, filled(bytes, '{"content":[', '1,', '1]}')),
    bad('49,000 lists and a long text', messages, filled(bytes, `{"x":[${lists}"`, 'x', '"]}')),
    bad(
      '49,000 attachments and a long text',
      messages,
      filled(bytes, `{"attachments":[${lists}"`, 'x', '"]}'),
    ),
    bad('9,900 unknown fields and a long text', messages, filled(bytes, `{${keys},"x":"`, 'x', '"}')),
    bad('blanks', messages, filled(bytes, '{"content":1', ' ', '}')),
    bad('escapes', messages, filled(bytes, '{"content":"', '\\n', '"}')),
    bad('escapes of characters', messages, filled(bytes, '{"content":"', '\\u00e9', '"}')),
    bad('one number', messages, filled(bytes, '{"content":0.', '0', '1}')),
  ];
  if (bytes > MOST_OTHER_BYTES) return kinds;
  return [
    ...kinds,
    bad('lists as metadata', '/sessions', filled(bytes, '{"metadata":{"x":[', '[],', '[]]}}')),
    bad(
      '49,000 lists and a long text as metadata',
      '/sessions',
      filled(bytes, `{"metadata":{"x":[${lists}"`, 'x', '"]}}'),
    ),
    bad(
      '9,900 keys of metadata and a long text',
      '/sessions',
      filled(bytes, `{"metadata":{${keys},"x":"`, 'x', '"}}'),
    ),
    bad(
      '49,000 events and a long text',
      '/hooks',
      filled(bytes, `{"url":"https://example.com/","events":[${'"a",'.repeat(MANY)}"`, 'x', '"]}'),
    ),
    bad('9,900 keys of the configuration', '/config', filled(bytes, `{${keys},"x":"`, 'x', '"}'), 'PATCH'),
  ];
}
