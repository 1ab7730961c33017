import ts from 'typescript';

/**
 * The arms of every branch in a TypeScript source: both ways of an `if`, `?:`, `&&`, `||` and `??`, and each case of a
 * `switch`. Found in the source itself, so that they are the same however it was compiled.
 *
 * An arm was taken as often as the code at `at` ran; `less` is taken off that, for the way past an `if` without `else`.
 */
export function armsOf(fileName, text) {
  const source = ts.createSourceFile(fileName, text, ts.ScriptTarget.Latest, true);
  const arms = [];
  const span = (node) => ({ from: node.getStart(source), to: node.end });
  const add = (node, kind, at, less) => {
    const line = source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1;
    arms.push({ line, kind, at, ...(less === undefined ? {} : { less }) });
  };
  const visit = (node) => {
    if (ts.isIfStatement(node)) {
      add(node, 'if', span(node.thenStatement));
      if (node.elseStatement) add(node, 'else', span(node.elseStatement));
      else add(node, 'no else', span(node), span(node.thenStatement));
    } else if (ts.isConditionalExpression(node)) {
      add(node, '? yes', span(node.whenTrue));
      add(node, '? no', span(node.whenFalse));
    } else if (isLogical(node)) {
      add(node, `${node.operatorToken.getText(source)} left`, span(node.left));
      add(node, `${node.operatorToken.getText(source)} right`, span(node.right));
    } else if (ts.isCaseOrDefaultClause(node) && node.statements.length > 0) {
      add(node, 'case', span(node.statements[0]));
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return arms;
}

function isLogical(node) {
  if (!ts.isBinaryExpression(node)) return false;
  const { kind } = node.operatorToken;
  return (
    kind === ts.SyntaxKind.AmpersandAmpersandToken ||
    kind === ts.SyntaxKind.BarBarToken ||
    kind === ts.SyntaxKind.QuestionQuestionToken
  );
}
