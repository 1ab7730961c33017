import { tmpdir } from 'node:os';
import { pretendSystem } from '../../../../test/harness/other-system.js';
import { findServerBinaries } from './server-binaries.js';

let restore = (): void => undefined;
afterEach(() => restore());

test.each<[NodeJS.Platform, NodeJS.Architecture, string]>([
  ['win32', 'x64', 'run the gateway in WSL'],
  ['linux', 'riscv64', 'there are no binaries for linux-riscv64'],
  [process.platform === 'linux' ? 'darwin' : 'linux', 'arm64', 'install with optional dependencies'],
])('on %s %s it is said what to do', async (platform, arch, advice) => {
  restore = pretendSystem(platform, arch);
  await expect(findServerBinaries(tmpdir())).rejects.toThrow(advice);
});
