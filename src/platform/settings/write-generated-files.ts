import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { GENERATED_FILES } from './generated-files.js';

/** Run from the project's folder after a build: `npm run generate:config`. */
for (const { path, make } of GENERATED_FILES) {
  writeFileSync(path, make(existsSync(path) ? readFileSync(path, 'utf8') : ''));
}
