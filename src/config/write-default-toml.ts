import { writeFileSync } from 'node:fs';
import { defaultToml } from './default-toml.js';

/** Run from the project's folder after a build: `node dist/src/config/write-default-toml.js`. */
writeFileSync('config/gateway.default.toml', defaultToml());
