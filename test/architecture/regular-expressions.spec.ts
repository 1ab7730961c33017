import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkSync } from 'recheck';
import ts from 'typescript';

// The pure JavaScript implementation: needs neither Java nor a platform binary.
process.env['RECHECK_SYNC_BACKEND'] = 'pure';

const SOURCES = join(__dirname, '../../src');
const VERDICT_MS = 120_000;

/** A regular expression as written in the source, or as built from the parts that the source names. */
interface Expression {
  readonly place: string;
  readonly source: string;
  readonly flags: string;
}

/**
 * Files that build expressions at run time, and how many. The redactor's is the alternation of the secret patterns.
 */
const BUILT_IN = [
  ['platform/settings/file-layer.ts', 3],
  ['http/route-table.ts', 1],
  ['platform/logging/redactor.ts', 1],
  ['areas/channels/adapters/slack/slack-messages.ts', 1],
  ['areas/skills/triggered-skills.ts', 1],
  ['areas/channels/adapters/telegram/telegram-messages.ts', 1],
];

/** Expressions built at run time, each with the worst parts that the code allows. */
const BUILT: Readonly<Record<string, readonly [source: string, flags: string][]>> = {
  'platform/settings/file-layer.ts': [
    [String.raw`^\s*\[\[?\s*(a\.b|"a"\."b")\s*\]`, ''],
    [String.raw`^\s*(a\.b|"a"\."b")\s*=(.*)$`, ''],
    [String.raw`(?:[A-Za-z0-9_-]+|"[^"\n]*"|'[^'\n]*')`, 'g'],
  ],
  'http/route-table.ts': [['^/api/v1/sessions/[^/]+/messages/?$', 'i']],
  'areas/channels/adapters/slack/slack-messages.ts': [[String.raw`<@U0123456789(?:\|[^<>]*)?>`, 'g']],
  'areas/skills/triggered-skills.ts': [
    [String.raw`^$|[\s\p{Ps}\p{Pi}"',;:!?。、]|[\p{Script=Han}\p{Script=Thai}ー]`, 'u'],
  ],
  'areas/channels/adapters/telegram/telegram-messages.ts': [[String.raw`@agent_bot(?!\w)`, 'i']],
};

function expressionsIn(file: string): { literals: Expression[]; built: number } {
  const text = readFileSync(join(SOURCES, file), 'utf8');
  const tree = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const literals: Expression[] = [];
  let built = 0;
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) literals.push(literal(file, tree, node));
    if ((ts.isNewExpression(node) || ts.isCallExpression(node)) && node.expression.getText() === 'RegExp')
      built += 1;
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return { literals, built };
}

function literal(file: string, tree: ts.SourceFile, node: ts.RegularExpressionLiteral): Expression {
  const end = node.text.lastIndexOf('/');
  const line = tree.getLineAndCharacterOfPosition(node.getStart()).line + 1;
  return { place: `src/${file}:${line}`, source: node.text.slice(1, end), flags: node.text.slice(end + 1) };
}

const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).filter(
  (file) => file.endsWith('.ts') && !file.endsWith('.spec.ts'),
);
const found = files.map((file) => ({ file, ...expressionsIn(file) }));

const all: readonly Expression[] = [
  ...found.flatMap(({ literals }) => literals),
  ...Object.entries(BUILT).flatMap(([file, list]) =>
    list.map(([source, flags]) => ({ place: `src/${file}`, source, flags })),
  ),
];
const written = ({ source, flags }: Expression): string => `/${source}/${flags}`;

/**
 * A verdict takes up to a minute, so verdicts are kept. `UPDATE_EXPRESSIONS=1` adds those of new expressions, `=all`
 * judges all of them again.
 */
const KEPT = join(__dirname, 'regular-expressions.json');
const update = process.env['UPDATE_EXPRESSIONS'];
const kept = new Set<string>(update === 'all' ? [] : (JSON.parse(readFileSync(KEPT, 'utf8')) as string[]));
const now = [...new Set(all.map(written))].sort();

test('every regular expression takes time in proportion to the text at most', () => {
  const judged = all.filter((expression) => !kept.has(written(expression)));
  const unsafe = judged.flatMap((expression) => {
    const { status } = checkSync(expression.source, expression.flags, { timeout: VERDICT_MS });
    return status === 'safe' ? [] : [`${expression.place} ${written(expression)} is ${status}`];
  });
  expect(unsafe).toEqual([]);
  if (update !== undefined) writeFileSync(KEPT, `${JSON.stringify(now, null, 2)}\n`);
}, 900_000);

test('the stored verdicts are those of the current expressions', () => {
  expect(JSON.parse(readFileSync(KEPT, 'utf8'))).toEqual(now);
});

test('expressions that are built at run time are judged with the parts they may get', () => {
  expect(found.filter(({ built }) => built > 0).map(({ file, built }) => [file, built])).toEqual(
    expect.arrayContaining(BUILT_IN),
  );
  expect(found.filter(({ built }) => built > 0)).toHaveLength(BUILT_IN.length);
});
