import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ChildGroups, hierarchiesOf } from './control-groups.js';

let mount: string;
beforeEach(() => {
  mount = mkdtempSync(join(tmpdir(), 'agx-'));
});
afterEach(() => rmSync(mount, { recursive: true }));

/** Files as the kernel shows them, in folders that only look like control groups. */
function write(name: string, text: string): void {
  mkdirSync(dirname(join(mount, name)), { recursive: true });
  writeFileSync(join(mount, name), text);
}

const SERVICE = 'system.slice/gateway.service';

/** Version 2 as systemd makes it for `Delegate=yes` and `DelegateSubgroup=main`. */
function delegated(controllers = 'cpu memory pids', handedOn = 'memory pids'): void {
  write('cgroup.controllers', 'cpuset cpu io memory pids');
  write(`${SERVICE}/cgroup.controllers`, controllers);
  write(`${SERVICE}/cgroup.subtree_control`, handedOn);
  write(`${SERVICE}/main/cgroup.procs`, '');
}

describe('version 2', () => {
  test('groups are created beside the one of the gateway', () => {
    delegated();
    const [hierarchy, ...others] = hierarchiesOf(mount, `0::/${SERVICE}/main\n`);
    expect([hierarchy?.folder, others]).toEqual([join(mount, SERVICE), []]);
  });

  test('controllers that are not enabled yet are requested', () => {
    delegated('memory pids', '');
    // A kernel would then show them as enabled; this folder shows what was written.
    expect(hierarchiesOf(mount, `0::/${SERVICE}/main\n`)).toEqual([]);
    expect(readFileSync(join(mount, SERVICE, 'cgroup.subtree_control'), 'utf8')).toBe('+pids +memory');
  });

  test.each([
    ['a controller is missing', () => delegated('cpu memory', 'memory'), `${SERVICE}/main`],
    ['nothing was delegated: the group lies in a slice', () => delegated(), SERVICE],
    ['the process is in the root', () => delegated(), ''],
    ['there is no such mount', () => undefined, `${SERVICE}/main`],
  ])('there are none when %s', (_what, prepare, path) => {
    prepare();
    expect(hierarchiesOf(mount, `0::/${path}\n`)).toEqual([]);
  });

  test('each child gets one with all limits, including swap and out-of-memory behaviour', () => {
    delegated();
    const membership = join(mount, 'membership');
    writeFileSync(membership, `0::/${SERVICE}/main\n`);
    const groups = ChildGroups.detect(mount, membership);
    expect([groups.boundsProcesses, groups.boundsMemory]).toEqual([true, true]);
    const { members } = groups.make({ processes: 64, memoryMb: 256 });
    const [procs = ''] = members;
    expect(members).toHaveLength(1);
    expect(procs).toMatch(new RegExp(`^${mount}/${SERVICE}/agent-gateway-${process.pid}-\\d+/cgroup.procs$`));
    const value = (file: string) => readFileSync(join(dirname(procs), file), 'utf8');
    expect(['pids.max', 'memory.max', 'memory.swap.max', 'memory.oom.group'].map(value)).toEqual([
      '64',
      String(256 * 1_048_576),
      '0',
      '1',
    ]);
    expect(groups.make({ processes: 0, memoryMb: 0 }).members).toEqual([]);
  });
});

describe('version 1', () => {
  const MEMBERSHIP = '8:pids:/a\n7:cpu,cpuacct:/\n4:memory:/b:c\n0::/\n';

  test('groups are created in each hierarchy, below the one of the gateway', () => {
    write('pids/a/cgroup.procs', '');
    write('memory/b:c/cgroup.procs', '');
    const found = hierarchiesOf(mount, MEMBERSHIP);
    expect(found.map(({ folder, processes, memory }) => [folder, processes.length, memory.length])).toEqual([
      [join(mount, 'pids/a'), 1, 0],
      [join(mount, 'memory/b:c'), 0, 2],
    ]);
  });

  test('a single controller is used alone', () => {
    write('pids/a/cgroup.procs', '');
    const membership = join(mount, 'membership');
    writeFileSync(membership, MEMBERSHIP);
    const groups = ChildGroups.detect(mount, membership);
    expect([groups.boundsProcesses, groups.boundsMemory]).toEqual([true, false]);
  });
});

test('groups that a killed gateway left behind are removed, and nothing else', () => {
  delegated();
  const gone = 4_194_305;
  for (const name of [`agent-gateway-${gone}-1`, `agent-gateway-${process.ppid}-1`, 'other'])
    mkdirSync(join(mount, SERVICE, name));
  const membership = join(mount, 'membership');
  writeFileSync(membership, `0::/${SERVICE}/main\n`);
  ChildGroups.detect(mount, membership);
  const left = readdirSync(join(mount, SERVICE));
  expect(left).toEqual(expect.arrayContaining([`agent-gateway-${process.ppid}-1`, 'other']));
  expect(left).not.toContain(`agent-gateway-${gone}-1`);
});

test('without /proc/self/cgroup there are none', () => {
  const groups = ChildGroups.detect(mount, join(mount, 'absent'));
  expect([groups.boundsProcesses, groups.boundsMemory]).toEqual([false, false]);
  expect(groups.make({ processes: 1, memoryMb: 1 }).members).toEqual([]);
  expect(existsSync(join(mount, 'absent'))).toBe(false);
});
