import { mkdirSync, mkdtempSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pretendSystem } from '../../../../test/harness/other-system.js';
import { completeLibraryLinks, findServerBinaries } from './server-binaries.js';

let restore = (): void => undefined;
afterEach(() => restore());

test.each<[NodeJS.Platform, NodeJS.Architecture, string]>([
  ['win32', 'x64', 'run the gateway in WSL'],
  ['linux', 'riscv64', 'there are no binaries for linux-riscv64'],
  [process.platform === 'linux' ? 'darwin' : 'linux', 'arm64', 'install with optional dependencies'],
])('on %s %s the error says what to do', async (platform, arch, advice) => {
  restore = pretendSystem(platform, arch);
  await expect(findServerBinaries(tmpdir())).rejects.toThrow(advice);
});

const links = [
  { source: 'native/lib/liba.so.1.2', target: 'native/lib/liba.so.1' },
  { source: 'native/lib/libb.so.3.4', target: 'native/lib/libb.so.3' },
];
let folder: string;
let root: string;
let spare: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'agb-'));
  root = join(folder, 'package');
  spare = join(folder, 'spare');
  mkdirSync(join(root, 'native/lib'), { recursive: true });
  writeFileSync(join(root, 'native/pg-symlinks.json'), JSON.stringify(links));
  for (const { source } of links) writeFileSync(join(root, source), source);
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('the library links of the package', () => {
  it('are created where the install script did not run, and still work after a move', async () => {
    await expect(completeLibraryLinks(root, spare)).resolves.toBeUndefined();
    expect(readlinkSync(join(root, 'native/lib/liba.so.1'))).toBe('liba.so.1.2');
    expect(readFileSync(join(root, 'native/lib/libb.so.3'), 'utf8')).toBe('native/lib/libb.so.3.4');
  });

  it('are created once when several processes start', async () => {
    await Promise.all(Array.from({ length: 8 }, () => completeLibraryLinks(root, spare)));
    expect(readFileSync(join(root, 'native/lib/liba.so.1'), 'utf8')).toBe('native/lib/liba.so.1.2');
  });

  it('are created in the spare folder when the package is read-only, again at every start', async () => {
    // A target in a folder that is absent fails for every user, root included.
    const refused = { source: 'native/lib/liba.so.1.2', target: 'absent/liba.so.1' };
    writeFileSync(join(root, 'native/pg-symlinks.json'), JSON.stringify([refused]));
    for (let start = 0; start < 2; start++) {
      const path = await completeLibraryLinks(root, spare).catch((error: unknown) => String(error));
      if (process.platform !== 'linux') expect(path).toMatch(/npm rebuild.*DATABASE_URL/);
      else expect(path).toBe(`${spare}:${join(root, 'native/lib')}`);
    }
    if (process.platform !== 'linux') return;
    expect(readFileSync(join(spare, 'liba.so.1'), 'utf8')).toBe('native/lib/liba.so.1.2');
  });

  it('are not needed on a platform whose package has none', async () => {
    rmSync(join(root, 'native/pg-symlinks.json'));
    await expect(completeLibraryLinks(root, spare)).resolves.toBeUndefined();
  });

  it('are not guessed when the list of them cannot be read', async () => {
    rmSync(join(root, 'native/pg-symlinks.json'));
    mkdirSync(join(root, 'native/pg-symlinks.json'));
    await expect(completeLibraryLinks(root, spare)).rejects.toMatchObject({ code: 'EISDIR' });
  });

  it('must be in the package on a system whose loader looks nowhere else', async () => {
    const restore = pretendSystem('darwin');
    try {
      const refused = { source: 'native/lib/liba.1.dylib', target: 'absent/liba.dylib' };
      writeFileSync(join(root, 'native/pg-symlinks.json'), JSON.stringify([refused]));
      await expect(completeLibraryLinks(root, spare)).rejects.toThrow(
        /cannot be made \(ENOENT\); run "npm rebuild"/,
      );
    } finally {
      restore();
    }
  });
});
