/** Everything runs as CommonJS through swc: Jest's ESM mode cannot load Nest 12's CommonJS companions. */
const common = {
  testEnvironment: '<rootDir>/scripts/jest-environment.cjs',
  transform: {
    '^.+\\.[cm]?[jt]s$': [
      '@swc/jest',
      {
        jsc: {
          target: 'es2023',
          parser: { syntax: 'typescript', decorators: true },
          transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: false },
        },
        module: { type: 'commonjs' },
        sourceMaps: 'inline',
      },
    ],
  },
  transformIgnorePatterns: [
    '/node_modules/(?!(@nestjs|@modelcontextprotocol/client|jose|file-type|oauth4webapi)/)',
  ],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  modulePathIgnorePatterns: ['<rootDir>/dist'],
};

module.exports = {
  // Not how long a test takes, but how long one may on a machine that is busy with others.
  testTimeout: 120_000,
  maxWorkers: 2,
  // At the end a worker has half a second to go, and larger ones need longer.
  workerIdleMemoryLimit: '2GB',
  testSequencer: '<rootDir>/scripts/jest-longest-first.cjs',
  reporters: ['default', '<rootDir>/scripts/jest-count-reporter.cjs'],
  projects: [
    { ...common, displayName: 'unit', testMatch: ['<rootDir>/src/**/*.spec.ts'] },
    {
      ...common,
      displayName: 'gateway',
      testMatch: ['<rootDir>/test/**/*.spec.ts'],
      // Packs, and installs what was packed: `npm run test:package`.
      testPathIgnorePatterns: [
        '/node_modules/',
        ...(process.env.TEST_PACKAGE ? [] : ['<rootDir>/test/package/']),
        // Needs a browser: `npm run test:console`.
        ...(process.env.TEST_CONSOLE ? [] : ['<rootDir>/test/console/']),
      ],
      globalSetup: '<rootDir>/test/harness/global-setup.mjs',
      globalTeardown: '<rootDir>/test/harness/global-teardown.mjs',
    },
  ],
};
