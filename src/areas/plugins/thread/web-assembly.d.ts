/** The parts of WebAssembly in use; TypeScript declares them only in its browser library. */
declare namespace WebAssembly {
  type ImportExportKind = 'function' | 'global' | 'memory' | 'table' | 'tag';
  type ImportFunction = (...args: never[]) => unknown;
  type ModuleImports = Record<string, ImportFunction>;

  interface ModuleImportDescriptor {
    readonly module: string;
    readonly name: string;
    readonly kind: ImportExportKind;
  }

  type Module = object;
  const Module: {
    new (bytes: Uint8Array<ArrayBuffer>): Module;
    imports(module: Module): ModuleImportDescriptor[];
    exports(module: Module): { readonly name: string; readonly kind: ImportExportKind }[];
  };

  class Instance {
    constructor(module: Module, imports: Record<string, ModuleImports>);
    readonly exports: Readonly<Record<string, unknown>>;
  }

  class Memory {
    constructor(limits: { readonly initial: number });
    readonly buffer: ArrayBuffer;
  }
}
