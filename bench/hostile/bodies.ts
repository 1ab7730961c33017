/** The largest body on routes other than messages. */
export const MAX_OTHER_BYTES = 1_048_576;
/** A base64 file of more bytes than this is refused for its own size. */
const MAX_ORDINARY_BYTES = 27_900_000;
/** Just below the limit, so that the body is parsed. */
const LISTS = '[],'.repeat(49_000);
const KEYS = Array.from({ length: 9900 }, (_, i) => `"key-${i}":1`).join(',');

type Body = Uint8Array<ArrayBuffer>;

/** One kind of body that is refused, and expensive for a reader that parses first or scans everything. */
export interface Attack {
  readonly what: string;
  readonly method: string;
  /** Its route; by default the messages of a session. */
  readonly path?: string;
  /** A body of at most `bytes`. */
  body(bytes: number): Body;
  readonly status: number;
}

/** A message with one file, to a session that has ended: the body is read and validated whole, and no turn runs. */
export const ORDINARY: Attack = {
  what: 'an ordinary message',
  method: 'POST',
  body: (bytes) =>
    filled(
      Math.min(bytes, MAX_ORDINARY_BYTES),
      '{"content":"A file","attachments":[{"type":"file","name":"a.bin","mime_type":"application/octet-stream","data":"',
      'QUJD',
      '"}]}',
    ),
  status: 409,
};

export const ATTACKS_BY_MESSAGE: readonly Attack[] = [
  attack('lists in an unknown field', '{"content":"x","x":[', '[],', '[]]}'),
  attack('lists for attachments', '{"attachments":[', '[],', '[]]}'),
  attack('lists for a text', '{"content":[', '[],', '[]]}'),
  attack('numbers', '{"content":[', '1,', '1]}'),
  attack('objects within each other', '{"content":', '{"a":', ''),
  attack('49,000 lists and a long text', `{"x":[${LISTS}"`, 'x', '"]}'),
  attack('49,000 attachments and a long text', `{"attachments":[${LISTS}"`, 'x', '"]}'),
  attack('9,900 unknown fields and a long text', `{${KEYS},"x":"`, 'x', '"}'),
  attack('blanks', '{"content":1', ' ', '}'),
  attack('escapes', '{"content":"', '\\n', '"}'),
  attack('escapes of characters', '{"content":"', '\\u00e9', '"}'),
  attack('a text beyond ASCII', '{"content":"', '\u6f22', '"}'),
  attack('an unknown text beyond ASCII', '{"content":"x","x":"', 'a\u{1f600}', '"}'),
  attack(
    'a long name beyond ASCII',
    '{"content":"x","attachments":[{"type":"file","mime_type":"a/b","data":"QUJD","name":"',
    '\u6f22',
    '"}]}',
  ),
  attack(
    'a long name',
    '{"content":"x","attachments":[{"type":"file","mime_type":"a/b","data":"QUJD","name":"',
    'x',
    '"}]}',
  ),
  attack('one number', '{"content":0.', '0', '1}'),
];

/** Of at most `MAX_OTHER_BYTES`. */
export const ATTACKS_ELSEWHERE: readonly Attack[] = [
  { ...attack('lists as metadata', '{"metadata":{"x":[', '[],', '[]]}}'), path: '/sessions' },
  {
    ...attack('49,000 lists and a long text as metadata', `{"metadata":{"x":[${LISTS}"`, 'x', '"]}}'),
    path: '/sessions',
  },
  {
    ...attack('9,900 keys of metadata and a long text', `{"metadata":{${KEYS},"x":"`, 'x', '"}}'),
    path: '/sessions',
  },
  {
    ...attack(
      '49,000 events and a long text',
      `{"url":"https://example.com/","events":[${'"a",'.repeat(49_000)}"`,
      'x',
      '"]}',
    ),
    path: '/hooks',
  },
  {
    ...attack('9,900 keys of the configuration', `{${KEYS},"x":"`, 'x', '"}'),
    method: 'PATCH',
    path: '/config',
  },
];

/** `head`, as many `unit`s as fit, and `tail`. */
function attack(what: string, head: string, unit: string, tail: string): Attack {
  return { what, method: 'POST', body: (bytes) => filled(bytes, head, unit, tail), status: 400 };
}

function filled(bytes: number, head: string, unit: string, tail: string): Body {
  const units = Math.max(0, Math.floor((bytes - head.length - tail.length) / Buffer.byteLength(unit)));
  return new Uint8Array(Buffer.from(head + unit.repeat(units) + tail));
}
