// Lint with types. Layout and import order are Biome's; which area may import which is dependency-cruiser's.
import { defineConfig, globalIgnores } from 'eslint/config';
import tseslint from 'typescript-eslint';

const tests = ['src/**/*.spec.ts', 'test/**/*.ts', 'bench/**/*.ts'];

const nestImports = [
  {
    group: ['@nestjs/common'],
    importNamePattern: 'Exception$',
    message: 'Throw a GatewayError: its class carries status, code and log level.',
  },
  {
    group: ['@nestjs/common', '@nestjs/core'],
    importNames: ['forwardRef', 'ModuleRef'],
    message: 'Inject through the constructor; a circle between two providers wants a third.',
  },
];

const environmentImport = {
  name: 'node:process',
  importNames: ['env'],
  message: 'The environment is read in src/platform/settings/environment.ts alone.',
};

/** What the strict set leaves open, or asks in a way that does not fit this code. */
const everywhere = {
  'no-console': 'error',
  'no-constant-binary-expression': 'error',
  'no-unsafe-finally': 'error',
  eqeqeq: ['error', 'always'],
  '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
  '@typescript-eslint/prefer-optional-chain': 'error',
  '@typescript-eslint/consistent-type-assertions': ['error', { assertionStyle: 'as' }],
  '@typescript-eslint/no-extraneous-class': ['error', { allowWithDecorator: true }],
  '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
  '@typescript-eslint/no-unnecessary-condition': [
    'error',
    { allowConstantLoopConditions: 'only-allowed-literals' },
  ],
  // A port's adapter may be asynchronous by contract and have nothing to wait for.
  '@typescript-eslint/require-await': 'off',
  // The compiler finds unused names, and knows a value that only its type is used of.
  '@typescript-eslint/no-unused-vars': 'off',
  '@typescript-eslint/no-confusing-void-expression': 'off',
  '@typescript-eslint/no-dynamic-delete': 'off',
  // Spreading a text counts its code points, which is what a limit in characters means.
  '@typescript-eslint/no-misused-spread': 'off',
  '@typescript-eslint/no-unnecessary-type-parameters': 'off',
  '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
};

const shippedCode = {
  'max-lines': ['error', { max: 300 }],
  'max-lines-per-function': ['error', { max: 40, skipComments: true, skipBlankLines: true }],
  'max-depth': ['error', 3],
  complexity: ['error', 14],
  '@typescript-eslint/explicit-module-boundary-types': 'error',
  '@typescript-eslint/strict-boolean-expressions': [
    'error',
    // A nullable number stays an error: there 0 hides.
    {
      allowString: true,
      allowNullableString: true,
      allowNumber: true,
      allowNullableObject: true,
      allowNullableBoolean: true,
    },
  ],
  'no-restricted-imports': ['error', { patterns: nestImports, paths: [environmentImport] }],
  'no-restricted-properties': [
    'error',
    { object: 'process', property: 'env', message: environmentImport.message },
  ],
  'no-restricted-globals': [
    'error',
    {
      name: 'setInterval',
      message: 'A Poller never looks twice at once, survives a failure, and is stopped.',
    },
  ],
};

export default defineConfig(
  globalIgnores(['dist', 'client/src/generated', 'client/dist', 'coverage', 'data', 'plugins', '**/*.js']),
  {
    files: ['**/*.mjs', '**/*.cjs'],
    rules: {
      eqeqeq: ['error', 'always'],
      'no-constant-binary-expression': 'error',
      'no-unsafe-finally': 'error',
    },
  },
  {
    files: ['**/*.ts', '**/*.tsx'],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: {
      parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname },
    },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: everywhere,
  },
  { files: ['src/**/*.ts', 'ormconfig.ts'], ignores: tests, rules: shippedCode },
  {
    // Markup makes functions long without making them hard.
    files: ['console/src/**/*.ts', 'console/src/**/*.tsx'],
    rules: {
      'max-lines': ['error', { max: 300 }],
      'max-lines-per-function': ['error', { max: 80, skipComments: true, skipBlankLines: true }],
      'max-depth': ['error', 3],
      complexity: ['error', 18],
      'no-restricted-syntax': [
        'error',
        {
          selector: 'JSXAttribute[name.name="dangerouslySetInnerHTML"]',
          message: 'Data is shown as text and through elements, never as markup.',
        },
        {
          selector: 'MemberExpression[property.name=/^(innerHTML|outerHTML|insertAdjacentHTML)$/]',
          message: 'Data is shown as text and through elements, never as markup.',
        },
      ],
    },
  },
  {
    // The edge translates the framework's own refusals.
    files: ['src/http/**/*.ts'],
    rules: {
      'no-restricted-imports': ['error', { patterns: nestImports.slice(1), paths: [environmentImport] }],
    },
  },
  {
    files: ['src/platform/settings/environment.ts'],
    rules: { 'no-restricted-properties': 'off', 'no-restricted-imports': 'off' },
  },
  {
    // The embedded server's own folder needs nothing else of the gateway.
    files: ['src/platform/runtime/*.ts', 'src/platform/database/embedded/*.ts'],
    rules: { 'no-restricted-globals': 'off' },
  },
  // The inferred type of a schema or of a composed decorator is the point of it.
  {
    files: ['src/platform/settings/sections/*.ts', 'src/**/*.decorator.ts'],
    rules: { '@typescript-eslint/explicit-module-boundary-types': 'off' },
  },
  {
    files: ['src/platform/database/migrations/*.ts'],
    rules: { 'max-lines': 'off', 'max-lines-per-function': 'off' },
  },
  {
    files: tests,
    rules: {
      '@typescript-eslint/unbound-method': 'off',
      '@typescript-eslint/no-non-null-assertion': 'off',
    },
  },
  // A benchmark's table is its product.
  { files: ['bench/**/*.ts'], rules: { 'no-console': 'off' } },
);
