import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import fc from 'fast-check';
import { CannotOpen, SecretBox } from './secret-box.js';

const key = randomBytes(32);
const box = new SecretBox(key);

test('opens what it sealed, whatever the text and the context', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.string(), (text, context) => {
      expect(box.open(box.seal(text, context), context)).toBe(text);
    }),
  );
});

test('another box with the same key opens it, as another replica would', () => {
  expect(new SecretBox(Buffer.from(key)).open(box.seal('hush', 'c'), 'c')).toBe('hush');
});

test('seals the same text differently each time, and shows nothing of it', () => {
  const [one, other] = [box.seal('canary-text', 'c'), box.seal('canary-text', 'c')];
  expect(one).not.toBe(other);
  expect(one + Buffer.from(one.split(':')[2] ?? '', 'base64url').toString('latin1')).not.toContain('canary');
});

test('refuses another context, so that a sealed text cannot be moved to another place', () => {
  expect(() => box.open(box.seal('hush', 'hook:1'), 'hook:2')).toThrow(CannotOpen);
});

test('says when the text was sealed under another key', () => {
  const other = new SecretBox(randomBytes(32));
  expect(() => other.open(box.seal('hush', 'c'), 'c')).toThrow('another master key');
});

test('refuses every text of which one bit was changed', () => {
  const sealed = box.seal('hush', 'c');
  const [version, keyId, body = ''] = sealed.split(':');
  const bytes = Buffer.from(body, 'base64url');
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    const changed = Buffer.from(bytes);
    changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
    expect(() => box.open(`${version}:${keyId}:${changed.toString('base64url')}`, 'c')).toThrow(CannotOpen);
  }
});

test.each(['', 'plain', 'agw1:', 'agw1:00000000:AAAA', 'agw2:00000000:AAAA'])('refuses %j', (text) => {
  expect(() => box.open(text, 'c')).toThrow(CannotOpen);
});

test('refuses a short key', () => {
  expect(() => new SecretBox(Buffer.alloc(31))).toThrow(RangeError);
});

test('shows no key when it is inspected or serialised', () => {
  const shown = inspect(box, { depth: 9, showHidden: true }) + JSON.stringify(box);
  expect(shown).not.toContain(key.toString('hex').slice(0, 8));
  expect(shown).not.toMatch(/Buffer/);
});

test('a ring opens what each of its keys sealed, and seals with the key that it is told to use', () => {
  const previous = randomBytes(32);
  const [ring, alone] = [new SecretBox(key, previous), new SecretBox(previous)];
  expect(ring.open(alone.seal('hush', 'c'), 'c')).toBe('hush');
  expect(ring.sealWith(alone.keyId)).toBe(true);
  expect(alone.open(ring.seal('hush', 'c'), 'c')).toBe('hush');
  expect(ring.sealWith('00000000')).toBe(false);
  expect(box.open(ring.reseal(alone.seal('hush', 'c'), 'c'), 'c')).toBe('hush');
  expect(() => box.open(alone.seal('hush', 'c'), 'c')).toThrow('another master key');
});
