import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { build } from 'esbuild';

const [brotli, gzipped] = [promisify(brotliCompress), promisify(gzip)];

/**
 * The page. Its script creates everything it shows. It has no inline script or style, because its content security
 * policy allows none.
 */
const page = ({ script, style, icon }) => `<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <meta name="color-scheme" content="light dark">
  <title>Agent Gateway</title>
  <link rel="icon" type="image/svg+xml" href="/console/assets/${icon}">
  <link rel="stylesheet" href="/console/assets/${style}">
  <script type="module" src="/console/assets/${script}"></script>
</head>
<body>
  <div id="root"></div>
  <noscript>The console needs JavaScript. The command line does without: <code>agent-gateway --help</code>.</noscript>
</body>
</html>
`;

/**
 * Builds the browser console into `dist/console`: the page, and compressed assets with a content hash in their names.
 */
export async function buildConsole(root) {
  const outdir = join(root, 'dist', 'console');
  await rm(outdir, { recursive: true, force: true });
  const { metafile } = await build({
    absWorkingDir: join(root, 'console'),
    entryPoints: { main: 'src/main.tsx', style: 'src/styles/index.css', icon: 'src/icon.svg' },
    outdir: join(outdir, 'assets'),
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    assetNames: '[name]-[hash]',
    loader: { '.svg': 'copy' },
    bundle: true,
    splitting: true,
    format: 'esm',
    target: ['chrome111', 'firefox115', 'safari16.4'],
    jsx: 'automatic',
    minify: true,
    legalComments: 'none',
    define: { 'process.env.NODE_ENV': '"production"' },
    metafile: true,
    logLevel: 'error',
  });
  const named = (entry) =>
    basename(Object.keys(metafile.outputs).find((path) => metafile.outputs[path].entryPoint === entry) ?? '');
  const assets = join(outdir, 'assets');
  const icon = (await readdir(assets)).find((name) => name.endsWith('.svg'));
  const html = page({ script: named('src/main.tsx'), style: named('src/styles/index.css'), icon });
  await mkdir(outdir, { recursive: true });
  await writeFile(join(outdir, 'index.html'), html);
  const files = [join(outdir, 'index.html'), ...(await readdir(assets)).map((name) => join(assets, name))];
  await Promise.all(files.map(compressed));
}

/** Compressed once here instead of at each request. */
async function compressed(file) {
  const content = await readFile(file);
  const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 10 } };
  const [br, gz] = await Promise.all([brotli(content, quality), gzipped(content, { level: 9 })]);
  await Promise.all([writeFile(`${file}.br`, br), writeFile(`${file}.gz`, gz)]);
}
