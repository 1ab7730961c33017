// Usage: node scripts/shrinkwrap.mjs write|remove
// npm leaves package-lock.json out of a package, but includes npm-shrinkwrap.json. With it, an installed package gets
// exactly the versions that were tested, checked by their hashes.
import { copyFileSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const [lock, shrinkwrap] = ['package-lock.json', 'npm-shrinkwrap.json'].map((name) =>
  fileURLToPath(new URL(`../${name}`, import.meta.url)),
);
const steps = {
  write: () => copyFileSync(lock, shrinkwrap),
  remove: () => rmSync(shrinkwrap, { force: true }),
};
const step = steps[process.argv[2]];
if (step === undefined) throw new Error('Usage: node scripts/shrinkwrap.mjs write|remove');
step();
