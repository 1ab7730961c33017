/**
 * A seccomp program for children in the sandbox, in the form that bubblewrap takes: classic BPF, 8 bytes an instruction,
 * little endian. It denies system calls that no tool server needs and that kernel exploits use; all others are allowed.
 */

const EPERM = 1;
const ENOSYS = 38;
const EAFNOSUPPORT = 97;

/** Offsets in `struct seccomp_data`: call number, architecture, low half of the first argument. */
const NUMBER = 0;
const ARCHITECTURE = 4;
const FIRST_ARGUMENT = 16;

/** Calls of the x32 ABI have this bit set; they would bypass the numbers below. */
const X32 = 0x4000_0000;
/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET. */
const NEW_NAMESPACES = 0x7e02_0000;
/** AF_UNIX, AF_INET, AF_INET6, AF_NETLINK. Not AF_VSOCK, which reaches the host from any network namespace. */
const FAMILIES = [1, 2, 10, 16];

const PLATFORMS = {
  x64: { audit: 0xc000_003e, column: 0 },
  arm64: { audit: 0xc000_00b7, column: 1 },
} as const;

const CLONE = [56, 220] as const;
const SOCKET = [41, 198] as const;
const CLONE3 = 435;

/** The numbers on x64 and on arm64. */
const DENIED = {
  // namespaces and mounts
  unshare: [272, 97],
  setns: [308, 268],
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  open_tree: [428, 428],
  move_mount: [429, 429],
  fsopen: [430, 430],
  mount_setattr: [442, 442],
  // other processes
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  kcmp: [312, 272],
  // the kernel
  syslog: [103, 116],
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  io_uring_setup: [425, 425],
  // the keyrings of the gateway's user
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  // shared memory that outlives its processes and that no limit counts
  shmget: [29, 194],
} as const satisfies Record<string, readonly [number, number]>;

/** The program for this processor architecture; undefined for one whose call numbers are not listed here. */
export function syscallFilter(processor: string = process.arch): Uint8Array | undefined {
  if (processor !== 'x64' && processor !== 'arm64') return undefined;
  const { audit, column } = PLATFORMS[processor];
  return assembled([
    load(ARCHITECTURE),
    skipIfEqual(audit, 1),
    refuse(ENOSYS),
    load(NUMBER),
    skipUnlessAtLeast(X32, 1),
    refuse(ENOSYS),
    // Its flags are in memory, which a filter cannot read. On ENOSYS the C libraries fall back to clone.
    skipUnlessEqual(CLONE3, 1),
    refuse(ENOSYS),
    ...Object.values(DENIED).flatMap((numbers) => [skipUnlessEqual(numbers[column], 1), refuse(EPERM)]),
    skipUnlessEqual(CLONE[column], 4),
    load(FIRST_ARGUMENT),
    skipUnlessAny(NEW_NAMESPACES, 1),
    refuse(EPERM),
    allow(),
    skipUnlessEqual(SOCKET[column], FAMILIES.length + 2),
    load(FIRST_ARGUMENT),
    ...FAMILIES.map((family, index) => skipIfEqual(family, FAMILIES.length - index)),
    refuse(EAFNOSUPPORT),
    allow(),
  ]);
}

interface Instruction {
  readonly code: number;
  /** Instructions to skip when the comparison holds, and when it does not. */
  readonly ifSo?: number;
  readonly ifNot?: number;
  readonly value: number;
}

const load = (offset: number): Instruction => ({ code: 0x20, value: offset });
const skipIfEqual = (value: number, ifSo: number): Instruction => ({ code: 0x15, ifSo, value });
const skipUnlessEqual = (value: number, ifNot: number): Instruction => ({ code: 0x15, ifNot, value });
const skipUnlessAtLeast = (value: number, ifNot: number): Instruction => ({ code: 0x35, ifNot, value });
const skipUnlessAny = (bits: number, ifNot: number): Instruction => ({ code: 0x45, ifNot, value: bits });
const refuse = (errno: number): Instruction => ({ code: 0x06, value: 0x0005_0000 + errno });
const allow = (): Instruction => ({ code: 0x06, value: 0x7fff_0000 });

function assembled(program: readonly Instruction[]): Uint8Array {
  const bytes = Buffer.alloc(program.length * 8);
  for (const [index, { code, ifSo = 0, ifNot = 0, value }] of program.entries()) {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(ifSo, index * 8 + 2);
    bytes.writeUInt8(ifNot, index * 8 + 3);
    bytes.writeUInt32LE(value, index * 8 + 4);
  }
  return bytes;
}
