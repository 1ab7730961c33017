import { readFileSync } from 'node:fs';
import ts from 'typescript';

/** A `describe` or a test in a spec file. */
export interface Written {
  readonly kind: 'describe' | 'test';
  /** As written; placeholders of `each` stay `%s`. */
  readonly title: string;
  /** As Jest would print them: one for each row of `each`, with … for what is known only at run time. */
  readonly printed: readonly string[];
  readonly children: readonly Written[];
}

type Cell = string | undefined;

const KINDS: Readonly<Record<string, Written['kind']>> = { describe: 'describe', test: 'test', it: 'test' };
const UNKNOWN = '…';

/** Reads the titles of a spec file without running it. Leaves out skipped tests. */
export function titlesIn(path: string): readonly Written[] {
  const tree = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true);
  const constants = constantsOf(tree);
  const collect = (node: ts.Node): Written[] => {
    const found: Written[] = [];
    ts.forEachChild(node, (child) => {
      const written = ts.isCallExpression(child) ? writtenBy(child) : undefined;
      if (written === undefined) found.push(...collect(child));
      else if (written !== 'skipped') found.push(written);
    });
    return found;
  };
  const writtenBy = (call: ts.CallExpression): Written | 'skipped' | undefined => {
    const runner = runnerOf(call.expression);
    if (runner === undefined) return undefined;
    if (runner.skipped) return 'skipped';
    const title = textOf(call.arguments[0]) ?? UNKNOWN;
    const printed =
      runner.table === undefined ? [title] : printedWith(title, tableOf(runner.table, constants));
    const body = call.arguments[1];
    return { kind: runner.kind, title, printed, children: body === undefined ? [] : collect(body) };
  };
  return collect(tree);
}

interface Runner {
  readonly kind: Written['kind'];
  readonly skipped: boolean;
  /** The argument of `each`. */
  readonly table?: ts.Expression | undefined;
}

/** `test`, `test.skip`, `describe.each(…)` and the like; undefined for every other function. */
function runnerOf(callee: ts.Expression): Runner | undefined {
  if (ts.isIdentifier(callee)) {
    const kind = KINDS[callee.text];
    return kind && { kind, skipped: false };
  }
  if (ts.isPropertyAccessExpression(callee)) {
    const runner = runnerOf(callee.expression);
    return runner && { ...runner, skipped: runner.skipped || /^(skip|todo)$/.test(callee.name.text) };
  }
  if (!ts.isCallExpression(callee) || !ts.isPropertyAccessExpression(callee.expression)) return undefined;
  const runner = callee.expression.name.text === 'each' ? runnerOf(callee.expression) : undefined;
  return runner && { ...runner, table: callee.arguments[0] };
}

/** The text of a literal, also when it is concatenated. */
function textOf(node: ts.Node | undefined): Cell {
  if (node === undefined) return undefined;
  if (ts.isStringLiteralLike(node)) return node.text;
  if (ts.isNumericLiteral(node)) return node.text;
  if (!ts.isBinaryExpression(node) || node.operatorToken.kind !== ts.SyntaxKind.PlusToken) return undefined;
  const [left, right] = [textOf(node.left), textOf(node.right)];
  return left === undefined || right === undefined ? undefined : left + right;
}

function constantsOf(tree: ts.SourceFile): ReadonlyMap<string, ts.Expression> {
  const declared = tree.statements
    .filter(ts.isVariableStatement)
    .flatMap(({ declarationList }) => declarationList.declarations);
  return new Map(
    declared.flatMap(({ name, initializer }) =>
      initializer && ts.isIdentifier(name) ? [[name.text, initializer] as const] : [],
    ),
  );
}

/** The rows given to `each` when the same file declares them; otherwise one unknown row. */
function tableOf(
  node: ts.Expression,
  constants: ReadonlyMap<string, ts.Expression>,
): readonly (readonly Cell[])[] {
  if (ts.isAsExpression(node) || ts.isSatisfiesExpression(node)) return tableOf(node.expression, constants);
  const constant = ts.isIdentifier(node) ? constants.get(node.text) : undefined;
  if (constant !== undefined) return tableOf(constant, constants);
  if (!ts.isArrayLiteralExpression(node)) return [[]];
  return node.elements.map((row) =>
    ts.isArrayLiteralExpression(row) ? row.elements.map(textOf) : [textOf(row)],
  );
}

function printedWith(title: string, table: readonly (readonly Cell[])[]): readonly string[] {
  return table.map((cells) => {
    let next = 0;
    return title.replaceAll(/%[sidfjop]/g, () => cells[next++] ?? UNKNOWN);
  });
}
