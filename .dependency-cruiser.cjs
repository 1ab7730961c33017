// Who may import whom: each storey only what lies below it. Files never form a circle. A spec is bound by its storey too.

/** From the ground up; the files directly below src/ are the composition, which knows everything. */
const storeys = ['common', 'platform', 'http', 'areas', 'cli'];

/** Imports that still run up, by the file that has them. */
const knownArrowsUp = [
  'src/cli/checked-settings.ts',
  'src/cli/serve/announcement.ts',
  'src/cli/serve/serve.ts',
  'src/cli/serve/start-banner.ts',
  'src/cli/serve/urls.ts',
  'src/http/asyncapi/make-asyncapi.ts',
  'src/http/asyncapi/session-socket.ts',
  'src/http/asyncapi/streams.ts',
  'src/http/asyncapi/webhooks.ts',
  'src/http/openapi/make-document.ts',
  'src/http/profiles/profile.module.ts',
  'src/platform/database/data-source-options.ts',
  'src/platform/lifecycle/drain.service.ts',
  'src/platform/metrics/metrics.module.ts',
];

const oneOf = (names) => `(${names.join('|')})`;
const face = '/(profile-[ab]|wire)/';
const exactly = (file) => `^${file.replaceAll('.', '[.]')}$`;

const downwards = storeys.map((storey, index) => ({
  name: `${storey}-imports-downwards`,
  severity: 'error',
  comment: `src/${storey} imports ${storeys.slice(0, index + 1).join(', ')}, and nothing above.`,
  from: { path: `^src/${storey}/`, pathNot: knownArrowsUp.map(exactly) },
  to: { path: '^src/', pathNot: `^src/${oneOf(storeys.slice(0, index + 1))}/` },
}));

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
    {
      name: 'every-file-is-on-a-storey',
      severity: 'error',
      from: { path: '^src/[^/]+/', pathNot: `^src/${oneOf(storeys)}/` },
      to: {},
    },
    {
      name: 'a-core-knows-no-profile',
      severity: 'error',
      comment:
        'Only modules, which list what there is, and the AsyncAPI documents, which describe it, know the faces.',
      from: {
        path: '^src/',
        pathNot: [`^src/areas/[^/]+${face}`, '[.]module[.]ts$', '[.]spec[.]ts$', '^src/http/asyncapi/'],
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
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    combinedDependencies: false,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
    },
  },
};
