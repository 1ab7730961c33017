// Usage: node scripts/shrinkwrap.mjs write|remove
// npm leaves package-lock.json out of a package and takes npm-shrinkwrap.json along: with it an installed package gets the
// very versions that were tested, by their hashes.
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
