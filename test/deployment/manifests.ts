import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import ts from 'typescript';
import { parseAllDocuments } from 'yaml';

/** One object of a manifest. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly [key: string]: unknown;
}

/** The packages with the types and the schema of each kind. */
const PACKAGES: Readonly<Record<string, string>> = {
  'monitoring.coreos.com/v1': '@kubernetes-models/prometheus-operator/',
};

/** Every object in a text. Throws for a duplicate key, a tab or a bad alias. */
export function manifestsOf(text: string): Manifest[] {
  return parseAllDocuments(text, { uniqueKeys: true }).map((document) => {
    if (document.errors[0] !== undefined) throw document.errors[0];
    return document.toJS() as Manifest;
  });
}

/** The objects in a folder, without those that only kustomize reads. */
export function manifestsIn(folder: string): Manifest[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.yaml') && name !== 'kustomization.yaml')
    .flatMap((name) => manifestsOf(readFileSync(join(folder, name), 'utf8')));
}

function modelOf({ apiVersion, kind }: Manifest): string {
  return `${PACKAGES[apiVersion] ?? 'kubernetes-models/'}${apiVersion}/${kind}`;
}

/** Faults that the schema of its kind finds in an object: missing keys, wrong types, unknown words. */
export function schemaFaults(manifest: Manifest): string[] {
  const model = createRequire(join(process.cwd(), 'package.json'))(modelOf(manifest)) as Record<
    string,
    new (
      data: unknown,
    ) => { validate(): void }
  >;
  const Model = model[manifest.kind];
  if (Model === undefined) return [`${manifest.kind} is not a kind of ${manifest.apiVersion}`];
  try {
    new Model(manifest).validate();
    return [];
  } catch (error) {
    return [`${manifest.kind}: ${(error as Error).message}`];
  }
}

const PARTIAL = `type Part<T> = T extends (infer Item)[] ? Part<Item>[] : T extends object ? { [Key in keyof T]?: Part<T[Key]> } : T;`;

/**
 * Unknown keys, which the schemas allow. The compiler's check of object literals finds them at any depth.
 * @param isPatch whether the objects may leave out required keys
 */
export function strangeKeys(manifests: readonly Manifest[], { isPatch = false } = {}): string[] {
  const lines = manifests.map((manifest, index) => {
    const type = `import('${modelOf(manifest)}').I${manifest.kind}`;
    return `export const manifest${index}: ${isPatch ? `Part<${type}>` : type} = ${JSON.stringify(manifest, undefined, 1)};`;
  });
  return compile(`${PARTIAL}\n${lines.join('\n')}`);
}

function compile(text: string): string[] {
  const fileName = join(process.cwd(), 'manifests-under-test.ts');
  const options: ts.CompilerOptions = {
    noEmit: true,
    strict: true,
    skipLibCheck: true,
    types: [],
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.Node16,
    moduleResolution: ts.ModuleResolutionKind.Node16,
  };
  const host = ts.createCompilerHost(options);
  const { fileExists, getSourceFile } = host;
  host.fileExists = (name) => name === fileName || fileExists(name);
  host.getSourceFile = (name, ...rest) =>
    name === fileName
      ? ts.createSourceFile(name, text, rest[0], true)
      : getSourceFile.call(host, name, ...rest);
  const program = ts.createProgram([fileName], options, host);
  return ts
    .getPreEmitDiagnostics(program)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
}
