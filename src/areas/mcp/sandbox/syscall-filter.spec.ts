import { syscallFilter } from './syscall-filter.js';

const ALLOWED = 'allowed';
const EPERM = 'errno 1';

/** Runs a filter as the kernel would, for one call. */
function verdict(
  filter: Uint8Array,
  call: { number: number; architecture?: number; first?: number },
): string {
  const { number, architecture = 0xc000_003e, first = 0 } = call;
  const data: Readonly<Record<number, number>> = { 0: number, 4: architecture, 16: first };
  const view = new DataView(filter.buffer, filter.byteOffset, filter.byteLength);
  let loaded = 0;
  for (let at = 0; at < filter.byteLength / 8; at += 1) {
    const code = view.getUint16(at * 8, true);
    const value = view.getUint32(at * 8 + 4, true);
    const jump = (isSo: boolean) => view.getUint8(at * 8 + (isSo ? 2 : 3));
    if (code === 0x20) loaded = data[value] ?? Number.NaN;
    else if (code === 0x15) at += jump(loaded === value);
    else if (code === 0x35) at += jump(loaded >= value);
    else if (code === 0x45) at += jump((loaded & value) !== 0);
    else if (code === 0x06) return value === 0x7fff_0000 ? ALLOWED : `errno ${value & 0xffff}`;
    else throw new Error(`unknown instruction ${code}`);
  }
  throw new Error('the program ran past its end');
}

const x64 = syscallFilter('x64') ?? new Uint8Array();
const arm64 = syscallFilter('arm64') ?? new Uint8Array();

test.each<[what: string, number: number, first: number, expected: string]>([
  ['read', 0, 0, ALLOWED],
  ['execve', 59, 0, ALLOWED],
  ['socketpair of any family', 53, 40, ALLOWED],
  ['unshare', 272, 0, EPERM],
  ['setns', 308, 0, EPERM],
  ['mount', 165, 0, EPERM],
  ['ptrace', 101, 0, EPERM],
  ['bpf', 321, 0, EPERM],
  ['keyctl', 250, 0, EPERM],
  ['shmget', 29, 0, EPERM],
  ['io_uring_setup', 425, 0, EPERM],
  ['clone of a process', 56, 17, ALLOWED],
  ['clone of a thread', 56, 0x003d_0f00, ALLOWED],
  ['clone with a user namespace', 56, 0x1000_0011, EPERM],
  ['clone with a mount namespace', 56, 0x0002_0011, EPERM],
  ['clone3', 435, 0, 'errno 38'],
  ['a call of the x32 ABI', 0x4000_0000 + 272, 0, 'errno 38'],
  ['a socket of the local family', 41, 1, ALLOWED],
  ['a socket of IPv4', 41, 2, ALLOWED],
  ['a socket of IPv6', 41, 10, ALLOWED],
  ['a socket of netlink', 41, 16, ALLOWED],
  ['a socket to the host of a virtual machine', 41, 40, 'errno 97'],
  ['a socket of raw packets', 41, 17, 'errno 97'],
  ['a socket of the crypto interface', 41, 38, 'errno 97'],
  ['the last call there is', 460, 0, ALLOWED],
])('x64: %s', (_what, number, first, expected) => {
  expect(verdict(x64, { number, first })).toBe(expected);
});

test.each<[what: string, number: number, first: number, expected: string]>([
  ['read', 63, 0, ALLOWED],
  ['unshare', 97, 0, EPERM],
  ['clone of a process', 220, 17, ALLOWED],
  ['clone with a user namespace', 220, 0x1000_0011, EPERM],
  ['a socket of IPv4', 198, 2, ALLOWED],
  ['a socket to the host of a virtual machine', 198, 40, 'errno 97'],
])('arm64: %s', (_what, number, first, expected) => {
  expect(verdict(arm64, { number, first, architecture: 0xc000_00b7 })).toBe(expected);
});

test('calls of another architecture than the program is for are refused', () => {
  expect(verdict(x64, { number: 0, architecture: 0x4000_0003 })).toBe('errno 38');
});

test('an unknown architecture has no filter', () => {
  expect(syscallFilter('riscv64')).toBeUndefined();
});
