// Who may import whom: each storey only what lies below it, and of another area only its <area>.api.ts.

/** From the ground up. The files directly below src/ are the composition: they know everything, and nothing imports them. */
const storeys = ['common', 'platform', 'http', 'areas', 'cli'];

/** From the ground up too: an area knows only those before it. */
const areas = [
  ...[
    'models',
    'tools',
    'plugins',
    'skills',
    'assertions',
    'mcp',
    'memory',
    'usage',
    'turns',
    'agents',
    'live',
  ],
  ...[
    'sessions',
    'mcp-server',
    'openai',
    'hooks',
    'a2a',
    'channels',
    'config',
    'logs',
    'status',
    'tokens',
    'audit',
    'privacy',
  ],
];

const oneOf = (names) => `(${names.join('|')})`;
const face = '/(profile-[ab]|wire|admin)/';

const downwards = storeys.map((storey, index) => ({
  name: `${storey}-imports-downwards`,
  severity: 'error',
  comment: `src/${storey} imports ${storeys.slice(0, index + 1).join(', ')}, and nothing above.`,
  from: { path: `^src/${storey}/` },
  to: { path: '^(src/|ormconfig)', pathNot: `^src/${oneOf(storeys.slice(0, index + 1))}/` },
}));

const betweenAreas = [
  {
    name: 'areas-meet-at-their-api',
    severity: 'error',
    comment:
      'Of another area only what stands in its <area>.api.ts; a module may import the other module too.',
    from: { path: '^src/areas/([^/]+)/', pathNot: '[.](spec|module)[.]ts$' },
    to: { path: '^src/areas/', pathNot: ['^src/areas/$1/', '[.]api[.]ts$'] },
  },
  {
    name: 'modules-meet-at-their-modules',
    severity: 'error',
    from: { path: '^src/areas/([^/]+)/.*[.]module[.]ts$' },
    to: { path: '^src/areas/', pathNot: ['^src/areas/$1/', '[.](api|module)[.]ts$'] },
  },
  {
    name: 'an-area-does-not-import-its-own-api',
    severity: 'error',
    comment: 'That file is for the others; inside the area it would close a circle.',
    from: { path: '^src/areas/([^/]+)/' },
    to: { path: '^src/areas/$1/[^/]+[.]api[.]ts$' },
  },
  ...areas.map((area, index) => ({
    name: 'areas-form-no-circle',
    severity: 'error',
    comment: `In the order of .dependency-cruiser.cjs, src/areas/${area} stands below what it imports.`,
    from: { path: `^src/areas/${area}/`, pathNot: '[.]spec[.]ts$' },
    to: { path: `^src/areas/${oneOf(areas.slice(index + 1).concat('-'))}/` },
  })),
  {
    name: 'every-area-has-its-place',
    severity: 'error',
    comment: 'A new folder below src/areas gets its place in the order of .dependency-cruiser.cjs.',
    from: { path: '^src/areas/', pathNot: `^src/areas/${oneOf(areas)}/` },
    to: {},
  },
];

module.exports = {
  forbidden: [
    {
      name: 'no-circles',
      severity: 'error',
      comment: 'Two files that need each other are one file, or want a third.',
      from: {},
      to: { circular: true },
    },
    ...downwards,
    ...betweenAreas,
    {
      name: 'every-file-is-on-a-storey',
      severity: 'error',
      from: { path: '^src/[^/]+/', pathNot: `^src/${oneOf(storeys)}/` },
      to: {},
    },
    {
      name: 'a-core-knows-no-profile',
      severity: 'error',
      comment: 'Only modules and the composition, which list what there is, know the faces.',
      from: {
        path: '^src/[^/]+/',
        pathNot: [`^src/areas/[^/]+${face}`, '[.]module[.]ts$', '[.]spec[.]ts$'],
      },
      to: { path: `^src/areas/[^/]+${face}`, pathNot: '[.]port[.]ts$' },
    },
    {
      name: 'the-faces-do-not-know-each-other',
      severity: 'error',
      from: { path: '^src/areas/[^/]+/profile-(a|b)/' },
      to: { path: '^src/areas/[^/]+/profile-[ab]/', pathNot: '^src/areas/[^/]+/profile-$1/' },
    },
    {
      name: 'shipped-code-knows-no-test',
      severity: 'error',
      from: { path: '^(src/|ormconfig)', pathNot: '[.]spec[.]ts$' },
      to: { path: ['^(test|bench|scripts)/', '[.]spec[.]ts$'] },
    },
    {
      name: 'shipped-code-needs-no-development-package',
      severity: 'error',
      comment: 'The image holds production dependencies only.',
      from: { path: '^(src/|ormconfig)', pathNot: '[.]spec[.]ts$' },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'every-import-resolves',
      severity: 'error',
      from: { path: '^(src|test|bench)/' },
      to: { couldNotResolve: true },
    },
    {
      name: 'every-package-is-listed',
      severity: 'error',
      from: { path: '^(src|test|bench)/' },
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown', 'undetermined'] },
    },
  ],
  options: {
    doNotFollow: { path: ['node_modules', '^dist/'] },
    // It runs in a folder of its own, with packages of its own.
    exclude: { path: ['^bench/side-by-side/mastra-server[.]mjs$', '^test/tool-servers/'] },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    combinedDependencies: false,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
    },
  },
};
