// Usage: node assemble.mjs ASSEMBLER FILE.wat …
// Writes FILE.wasm beside each. ASSEMBLER is the path of Binaryen's assembler, which is installed with
// AssemblyScript.
import { readFileSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const [assembler = '', ...sources] = process.argv.slice(2);
const { default: binaryen } = await import(pathToFileURL(assembler).href);

for (const source of sources) {
  const module = binaryen.parseText(readFileSync(source, 'utf8'));
  module.setFeatures(binaryen.Features.All);
  writeFileSync(source.replace(/\.wat$/, '.wasm'), module.emitBinary());
  module.dispose();
}
