import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

interface Component {
  readonly 'bom-ref': string;
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly hashes: readonly { readonly alg: string; readonly content: string }[];
}
interface Bom {
  readonly bomFormat: string;
  readonly specVersion: string;
  readonly serialNumber: string;
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}
interface Lock {
  readonly packages: Readonly<
    Record<
      string,
      {
        readonly version: string;
        readonly integrity: string;
        readonly dev?: true;
        readonly devOptional?: true;
      }
    >
  >;
}

test('npm run sbom writes every package that is shipped, with its hash, and no other, as CycloneDX', () => {
  const folder = mkdtempSync(join(tmpdir(), 'agw-sbom-'));
  try {
    const file = join(folder, 'gateway.cdx.json');
    execFileSync(process.execPath, ['scripts/sbom.mjs', file], { stdio: ['ignore', 'pipe', 'ignore'] });
    const bom = JSON.parse(readFileSync(file, 'utf8')) as Bom;
    expect(bom).toMatchObject({ bomFormat: 'CycloneDX', specVersion: '1.5', version: 1 });
    expect(bom.serialNumber).toMatch(/^urn:uuid:[0-9a-f-]{36}$/);
    expect(bom.metadata.component).toMatchObject({ type: 'application', name: 'agent-gateway' });

    const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as Lock;
    const shipped = Object.entries(lock.packages).filter(
      ([path, { dev, devOptional }]) => path !== '' && !dev && !devOptional,
    );
    const wanted = shipped.map(([path, { version, integrity }]) => {
      const hash = Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex');
      return `${path.replace(/^.*node_modules\//, '')}@${version} ${hash}`;
    });
    const had = bom.components.map((one) => `${one['bom-ref']} ${one.hashes[0]?.content}`);
    expect([...new Set(had)].sort()).toEqual([...new Set(wanted)].sort());
    for (const { purl, name, version } of bom.components)
      expect(purl).toBe(`pkg:npm/${name.replace('@', '%40')}@${version}`);
    const refs = new Set([...bom.components, bom.metadata.component].map((one) => one['bom-ref']));
    expect(bom.dependencies.map(({ ref }) => ref).filter((ref) => !refs.has(ref))).toEqual([]);
    expect(bom.dependencies.flatMap(({ dependsOn }) => dependsOn).filter((ref) => !refs.has(ref))).toEqual(
      [],
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});
