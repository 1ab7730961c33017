import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';

const ROOT = join(__dirname, '../..');

/** Breaks each rule once: the importing file, the imported file, and the rule that must report it. */
const PLANTED: [from: string, to: string, rule: string][] = [
  ['src/common/text/a.ts', 'src/platform/logging/a.ts', 'common-imports-downwards'],
  ['src/platform/logging/b.ts', 'src/http/guards/a.ts', 'platform-imports-downwards'],
  ['src/platform/logging/c.ts', 'ormconfig.ts', 'platform-imports-downwards'],
  ['src/http/guards/b.ts', 'src/areas/turns/turns.api.ts', 'http-imports-downwards'],
  ['src/areas/turns/a.ts', 'src/cli/a.ts', 'areas-imports-downwards'],
  ['src/cli/b.ts', 'src/start-gateway.ts', 'cli-imports-downwards'],
  ['src/kitchen/a.ts', 'src/common/text/b.ts', 'every-file-is-on-a-storey'],
  ['src/areas/channels/a.ts', 'src/areas/turns/b.ts', 'areas-meet-at-their-api'],
  ['src/areas/channels/a.module.ts', 'src/areas/turns/c.ts', 'modules-meet-at-their-modules'],
  ['src/areas/turns/d.ts', 'src/areas/turns/turns.api.ts', 'an-area-does-not-import-its-own-api'],
  ['src/areas/turns/e.ts', 'src/areas/channels/channels.api.ts', 'areas-form-no-circle'],
  ['src/areas/turns/f.module.ts', 'src/areas/channels/b.module.ts', 'areas-form-no-circle'],
  ['src/areas/kitchen/a.ts', 'src/common/text/c.ts', 'every-area-has-its-place'],
  ['src/areas/turns/g.ts', 'src/areas/turns/profile-a/a.ts', 'a-core-knows-no-profile'],
  ['src/areas/turns/profile-a/b.ts', 'src/areas/turns/profile-b/a.ts', 'the-faces-do-not-know-each-other'],
  ['src/common/text/d.ts', 'test/a.ts', 'shipped-code-knows-no-test'],
];

/** Imports that are allowed: no rule may report them. */
const ALLOWED: [from: string, to: string][] = [
  ['src/areas/channels/good.ts', 'src/areas/turns/turns.api.ts'],
  ['src/areas/channels/good.module.ts', 'src/areas/turns/good.module.ts'],
  ['src/areas/channels/good.spec.ts', 'src/areas/turns/b.ts'],
  ['src/areas/turns/profile-a/good.ts', 'src/areas/turns/good.ts'],
  ['src/areas/turns/good.ts', 'src/platform/logging/a.ts'],
  ['src/http/guards/good.ts', 'src/platform/logging/a.ts'],
  ['src/cli/good.ts', 'src/areas/turns/b.ts'],
  ['src/start-gateway.ts', 'src/areas/turns/profile-a/a.ts'],
];

interface Violation {
  readonly from: string;
  readonly to: string;
  readonly rule: { readonly name: string };
}

const folder = mkdtempSync(join(tmpdir(), 'storeys-'));
afterAll(() => rmSync(folder, { recursive: true }));

function write(path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text, { flag: 'a' });
}

/** What the project's rules report for a tree with these imports. */
function violationsOf(imports: readonly (readonly [from: string, to: string])[]): Violation[] {
  for (const [from, to] of imports) {
    const path = relative(dirname(from), to).replace(/[.]ts$/, '.js');
    write(from, `import '${path.startsWith('.') ? path : `./${path}`}';\n`);
    write(to, '');
  }
  write('test/kept.ts', '');
  copyFileSync(join(ROOT, 'tsconfig.json'), join(folder, 'tsconfig.json'));
  const config = join(ROOT, '.dependency-cruiser.cjs');
  const args = ['--config', config, '--output-type', 'json', 'src', 'test', 'ormconfig.ts'];
  const text = execFileSync(join(ROOT, 'node_modules/.bin/depcruise'), args, {
    cwd: folder,
    encoding: 'utf8',
  });
  return (JSON.parse(text) as { summary: { violations: Violation[] } }).summary.violations;
}

const violations = violationsOf([...PLANTED.map(([from, to]) => [from, to] as const), ...ALLOWED]);

test.each(PLANTED)('%s may not import %s: %s', (from, to, rule) => {
  const said = violations.filter((one) => one.from === from && one.to === to).map((one) => one.rule.name);
  expect(said).toContain(rule);
});

test.each(ALLOWED)('%s may import %s', (from, to) => {
  expect(violations.filter((one) => one.from === from && one.to === to)).toEqual([]);
});
