// Publishes what the suite's company omits in `auth/enterprise-managed-authorization`: it signs the ID token of its
// person without publishing its keys, but the gateway accepts only tokens that it can verify. The public key can be
// recovered from an ECDSA signature (SEC 1, 4.1.6).
import { createHash, createPublicKey } from 'node:crypto';
import { createServer } from 'node:http';

const P = 2n ** 256n - 2n ** 224n + 2n ** 192n + 2n ** 96n - 1n;
const N = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
const B = 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604bn;
const G = [
  0x6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296n,
  0x4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5n,
];

const mod = (a, m) => ((a % m) + m) % m;
function power(base, exponent, m) {
  let [result, factor] = [1n, mod(base, m)];
  for (let left = exponent; left > 0n; left >>= 1n) {
    if (left & 1n) result = (result * factor) % m;
    factor = (factor * factor) % m;
  }
  return result;
}
const inverse = (a, m) => power(a, m - 2n, m);

function add(one, other) {
  if (one === undefined) return other;
  if (other === undefined) return one;
  const [[x1, y1], [x2, y2]] = [one, other];
  if (x1 === x2 && mod(y1 + y2, P) === 0n) return undefined;
  const slope =
    x1 === x2 ? (3n * x1 * x1 - 3n) * inverse(2n * y1, P) : (y2 - y1) * inverse(mod(x2 - x1, P), P);
  const x = mod(slope * slope - x1 - x2, P);
  return [x, mod(slope * (x1 - x) - y1, P)];
}
function times(factor, point) {
  let [result, double] = [undefined, point];
  for (let left = mod(factor, N); left > 0n; left >>= 1n) {
    if (left & 1n) result = add(result, double);
    double = add(double, double);
  }
  return result;
}

/** The two keys (JWKs) that may have signed a token with ES256. */
export function keysOf(token) {
  const [header, claims, signature] = token.split('.');
  const bytes = Buffer.from(signature, 'base64url');
  const number = (part) => BigInt(`0x${part.toString('hex')}`);
  const [r, s] = [number(bytes.subarray(0, 32)), number(bytes.subarray(32))];
  const digest = number(createHash('sha256').update(`${header}.${claims}`).digest());
  const y = power(r * r * r - 3n * r + B, (P + 1n) / 4n, P);
  return [y, P - y].map((side) => {
    const point = add(times(s, [r, side]), times(-digest, G));
    const [qx, qy] = times(inverse(r, N), point);
    const text = (n) => Buffer.from(n.toString(16).padStart(64, '0'), 'hex').toString('base64url');
    const jwk = { kty: 'EC', crv: 'P-256', x: text(qx), y: text(qy) };
    createPublicKey({ key: jwk, format: 'jwk' });
    return { ...jwk, alg: 'ES256', use: 'sig' };
  });
}

/**
 * Publishes a key.
 * @returns its URL
 */
export async function published(key) {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ keys: [key] }));
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  server.unref();
  return `http://127.0.0.1:${server.address().port}/keys`;
}
