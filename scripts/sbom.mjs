// Usage: node scripts/sbom.mjs [FILE]
// Writes the contents of an installed gateway as CycloneDX: every package of package-lock.json that `npm ci
// --omit=dev` may install, with its version, licence and hash. npm's own --omit also leaves out packages that a
// development tool needs too.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const { name, packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
const shipped = new Set(
  Object.entries(packages)
    .filter(([path, { dev, devOptional }]) => path !== '' && !dev && !devOptional)
    .map(
      ([path, { name: alias, version }]) => `${alias ?? path.replace(/^.*node_modules\//, '')}@${version}`,
    ),
);

const args = ['sbom', '--package-lock-only', '--sbom-format', 'cyclonedx', '--sbom-type', 'application'];
const bom = JSON.parse(execFileSync('npm', args, { cwd: root, encoding: 'utf8', maxBuffer: 1 << 26 }));
const { component } = bom.metadata;
const refs = new Set([...shipped, component['bom-ref']]);
// npm uses the name of the folder.
component.name = name;
bom.components = bom.components.filter((one) => shipped.has(one['bom-ref']));
bom.dependencies = bom.dependencies
  .filter(({ ref }) => refs.has(ref))
  .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((one) => refs.has(one)) }));

const file = resolve(process.argv[2] ?? join(root, `${name}.cdx.json`));
writeFileSync(file, `${JSON.stringify(bom, null, 2)}\n`);
process.stdout.write(`${file}: ${bom.components.length} packages\n`);
