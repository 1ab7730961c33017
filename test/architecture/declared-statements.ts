import { basename } from 'node:path';
import ts from 'typescript';

interface Source {
  /** Below `src`. */
  readonly file: string;
  readonly text: string;
}

/** A function that declares statements when it is called, or calls one that does. */
interface Builder {
  readonly file: string;
  readonly name: string;
}

/** A call of a builder, in the declaration of a function or of a constant of the file. */
interface BuilderCall extends Builder {
  readonly called: string;
  readonly inFunction: boolean;
  /** The properties whose values contain the call, such as `count` in `{ count: statement(…) }`. */
  readonly members: readonly string[];
}

export interface DeclaredStatements {
  /** The files that declare statements. */
  readonly files: readonly string[];
  /** `<file>: <name>` of a constant or function that nothing uses, and `<file>: <name>.<property>`. */
  readonly unused: readonly string[];
  /** Builders that nothing calls while files are loaded: a test has to call them to see their statements. */
  readonly onDemand: readonly string[];
}

const FIRST_BUILDERS = ['statement', 'statementsBy'].map((name) => ({
  name,
  file: 'platform/database/statement.ts',
}));

/** A source as far as it matters here: which names and properties it reads, and what its top level calls. */
interface Read extends Source {
  readonly names: ReadonlySet<string>;
  readonly members: ReadonlySet<string>;
  readonly calls: readonly BuilderCall[];
}

/**
 * Finds what declares statements, and what of it nothing uses, by the names of functions and modules. A property counts
 * as used when any property of its name is read in the file or in one that imports it.
 */
export function declaredStatements(given: readonly Source[]): DeclaredStatements {
  const sources = given.map(read);
  const builders: Builder[] = [...FIRST_BUILDERS];
  const calls: BuilderCall[] = [];
  const onDemand: string[] = [];
  // The list grows while it is read.
  for (const { file: place, name: builder } of builders) {
    const found = sources
      .filter((source) => source.file !== FIRST_BUILDERS[0]!.file && reaches(source, place))
      .flatMap((source) => source.calls.filter(({ called }) => called === builder));
    calls.push(...found);
    if (found.length === 0) onDemand.push(builder);
    for (const { file, name } of found.filter(({ inFunction }) => inFunction)) {
      if (!builders.some((one) => one.file === file && one.name === name)) builders.push({ file, name });
    }
  }
  return {
    files: [...new Set(calls.map(({ file }) => file))],
    unused: calls.flatMap((call) => unusedOf(call, sources)),
    onDemand,
  };
}

function unusedOf({ file, name, members }: BuilderCall, sources: readonly Read[]): string[] {
  const users = sources.filter((source) => reaches(source, file));
  return [
    // As a member where a module is imported as one object.
    ...(users.some((user) => user.names.has(name) || user.members.has(name)) ? [] : [`${file}: ${name}`]),
    ...members
      .filter((member) => !users.some((user) => user.members.has(member)))
      .map((member) => `${file}: ${name}.${member}`),
  ];
}

/** It is that file, or imports a module with the name of that file. */
function reaches({ file, text }: Source, other: string): boolean {
  return file === other || text.includes(`/${basename(other, '.ts')}.js'`);
}

function read({ file, text }: Source): Read {
  const tree = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const [names, members] = [new Set<string>(), new Set<string>()];
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) return;
    if (ts.isIdentifier(node)) setOfUse(node, names, members)?.add(node.text);
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return { file, text, names, members, calls: tree.statements.flatMap((node) => callsIn(node, file)) };
}

/** Undefined for a name that is declared, and for a property of `this`. */
function setOfUse<Names>(node: ts.Identifier, names: Names, members: Names): Names | undefined {
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent) && parent.name === node)
    return parent.expression.kind === ts.SyntaxKind.ThisKeyword ? undefined : members;
  if (ts.isBindingElement(parent) && ts.isObjectBindingPattern(parent.parent))
    return (parent.propertyName ?? parent.name) === node ? members : undefined;
  const passesOn = ts.isShorthandPropertyAssignment(parent) || ts.isExportSpecifier(parent);
  return 'name' in parent && parent.name === node && !passesOn ? undefined : names;
}

/** Calls of functions by their bare names, outside classes: no statement is declared in a method. */
function callsIn(node: ts.Statement, file: string): BuilderCall[] {
  if (ts.isFunctionDeclaration(node)) return callsOf(node, { file, name: node.name!.text, inFunction: true });
  if (!ts.isVariableStatement(node)) return [];
  return node.declarationList.declarations.flatMap((one) => {
    const inFunction = one.initializer !== undefined && ts.isArrowFunction(one.initializer);
    return callsOf(one, { file, name: one.name.getText(), inFunction });
  });
}

function callsOf(node: ts.Node, top: Omit<BuilderCall, 'called' | 'members'>): BuilderCall[] {
  const calls: BuilderCall[] = [];
  const visit = (one: ts.Node, members: readonly string[]): void => {
    if (ts.isCallExpression(one) && ts.isIdentifier(one.expression))
      calls.push({ ...top, members, called: one.expression.text });
    const within = ts.isPropertyAssignment(one) ? [...members, one.name.getText()] : members;
    ts.forEachChild(one, (child) => visit(child, within));
  };
  visit(node, []);
  return calls;
}
