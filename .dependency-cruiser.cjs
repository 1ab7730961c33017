// Who may import whom. Files never form a circle; areas follow the table below. A spec is bound by its area too.

const foundation = ['errors', 'ids', 'text', 'config', 'logs', 'files'];
const services = ['database', 'secrets', 'events', 'audit', 'metrics', 'tokens', 'outbound'];

/** Per area, the other areas that its core may import. An area that is not here may import nothing. */
const areas = {
  ids: [],
  text: [],
  errors: [],
  files: [],
  tracing: ['errors', 'logs'],
  secrets: ['database'],
  config: ['errors', 'ids', 'logs', 'database', 'secrets', 'tokens', 'events', 'audit'],
  logs: ['errors', 'ids', 'config', 'database', 'tokens'],
  database: [...foundation, 'metrics'],
  metrics: [...foundation, 'database', 'edge'],
  events: [...foundation, 'database', 'metrics'],
  audit: [...foundation, 'database', 'tokens'],
  outbound: [...foundation, 'metrics'],
  tokens: [...foundation, 'database', 'events', 'audit'],
  'rate-limits': [...foundation, 'database', 'metrics', 'tokens'],
  edge: [...foundation, 'database', 'metrics', 'tokens', 'rate-limits', 'profiles'],

  sessions: [...foundation, ...services, 'agent', 'channels', 'memory'],
  agent: [...foundation, ...services, 'sessions', 'memory', 'skills', 'mcp', 'plugins'],
  memory: [...foundation, ...services, 'agent'],
  skills: [...foundation, ...services, 'agent', 'plugins'],
  mcp: [...foundation, ...services, 'agent'],
  plugins: [...foundation, ...services, 'agent'],
  channels: [...foundation, ...services, 'sessions', 'agent', 'hooks'],
  hooks: [...foundation, ...services],
  status: [
    ...foundation,
    ...services,
    'edge',
    'lifecycle',
    'sessions',
    'agent',
    'memory',
    'skills',
    'mcp',
    'plugins',
    'channels',
    'hooks',
  ],

  profiles: [...foundation, 'edge', 'tokens', 'metrics', 'lifecycle'],
  lifecycle: [
    ...foundation,
    ...services,
    ...['profiles', 'edge', 'sessions', 'agent', 'memory', 'skills', 'mcp', 'plugins', 'channels', 'hooks'],
  ],
};

/** What a face (`profile-a/`, `profile-b/`, and `wire/` for what the two share) may import beside its own area. */
const faceImports = [...foundation, 'profiles', 'edge', 'tokens'];

const oneOf = (names) => `(${names.join('|')})`;
const face = '/(profile-[ab]|wire)/';

/** Names, words and types that every area may know: they import nothing themselves. */
const vocabulary = [
  '^src/profiles/profile[.]ts$',
  '^src/lifecycle/replica-id[.]ts$',
  '^src/lifecycle/readiness[.]ts$',
  '^src/tracing/spans[.]ts$',
];

const areaRules = Object.entries(areas).map(([area, allowed]) => ({
  name: `${area}-imports-only-what-it-may`,
  severity: 'error',
  comment: `The table in .dependency-cruiser.cjs says what src/${area} may import.`,
  from: { path: `^src/${area}/`, pathNot: `^src/${area}${face}` },
  to: {
    path: '^src/',
    pathNot: [`^src/${oneOf([area, ...allowed])}/`, ...vocabulary, ...exceptionsOf(area)],
  },
}));

function exceptionsOf(area) {
  // The DataSource lists every area's entities; the profile modules list every area's controllers.
  if (area === 'database') return ['[.]entity[.]ts$'];
  if (area === 'profiles') return [`^src/[^/]+${face}`, '[.]module[.]ts$'];
  return [];
}

module.exports = {
  forbidden: [
    {
      name: 'no-circles',
      severity: 'error',
      comment: 'Two files that need each other are one file, or want a third.',
      from: {},
      to: { circular: true },
    },
    {
      name: 'every-area-is-in-the-table',
      severity: 'error',
      comment: 'A new folder below src/ gets its line in .dependency-cruiser.cjs.',
      from: { path: '^src/[^/]+/', pathNot: `^src/${oneOf([...Object.keys(areas), 'cli'])}/` },
      to: { path: '^src/' },
    },
    ...areaRules,
    {
      name: 'a-core-knows-no-profile',
      severity: 'error',
      comment:
        'Only modules, which list what there is, and the AsyncAPI documents, which describe it, know the faces.',
      from: {
        path: '^src/',
        pathNot: [`^src/[^/]+${face}`, '[.]module[.]ts$', '[.]spec[.]ts$', '^src/profiles/asyncapi/'],
      },
      to: { path: `^src/[^/]+${face}` },
    },
    {
      name: 'a-face-imports-its-own-area',
      severity: 'error',
      comment: 'A face translates between its own core and the wire; of another area it knows types at most.',
      from: { path: `^src/([^/]+)${face}` },
      to: {
        path: '^src/',
        pathNot: ['^src/$1/', `^src/${oneOf(faceImports)}/`],
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'the-faces-do-not-know-each-other',
      severity: 'error',
      from: { path: '^src/[^/]+/profile-(a|b)/' },
      to: { path: '^src/[^/]+/profile-[ab]/', pathNot: '^src/[^/]+/profile-$1/' },
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
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    combinedDependencies: false,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
    },
  },
};
