import js from '@eslint/js';
import tseslint from 'typescript-eslint';

/** Forbids `process.env`, because code receives the configuration that `config/` has parsed. The exceptions are listed below. */
const noEnvironment = {
  selector: "MemberExpression[object.name='process'][property.name='env']",
  message: 'Do not read process.env here. Use the configuration from config/.',
};

/** Values must be parameters of a SQL statement, because values in its text allow SQL injection. */
const noRawSql = {
  selector: "CallExpression[callee.object.name='sql'][callee.property.name=/^(raw|lit|literal|id|table)$/]",
  message: 'Pass values as parameters of sql`...`, and write names directly in its text.',
};

export default tseslint.config(
  { ignores: ['dist/', 'node_modules/', 'coverage/', 'test/replay/**/*.json'] },
  js.configs.recommended,
  {
    files: ['**/*.ts'],
    extends: [...tseslint.configs.recommendedTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/only-throw-error': 'error',
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      'no-restricted-syntax': ['error', noEnvironment, noRawSql],
      eqeqeq: ['error', 'always', { null: 'ignore' }],
    },
  },
  {
    // Only these files may read the environment.
    files: [
      ...['config/**/*.ts', 'test/**/*.ts', 'stack/**/*.{ts,mjs}', 'scripts/**/*.{ts,mjs}', 'bench/environment.ts'],
      ...[
        'bench/processes/child-process.ts',
        'chaos/{cluster,images}/**/*.ts',
        'chaos/soak/heap-log.ts',
        'chaos/main.ts',
      ],
    ],
    rules: { 'no-restricted-syntax': ['error', noRawSql] },
  },
  {
    // Only security/log.ts creates loggers, because its loggers remove secrets. The service creates one too, but it writes nothing.
    files: ['**/*.ts'],
    ignores: [
      'security/log.ts',
      'company-data-service/service.ts',
      'test/**/*.ts',
      'workflows/**',
      'presentation/**',
      'domain/**',
      'platforms/**',
    ],
    rules: {
      '@typescript-eslint/no-restricted-imports': [
        'error',
        { paths: [{ name: 'pino', message: 'Create loggers with security/log.ts.', allowTypeImports: true }] },
      ],
    },
  },
  {
    // Workflow code must be deterministic, and is bundled without Node's modules.
    files: ['workflows/**/*.ts', 'presentation/**/*.ts', 'domain/**/*.ts', 'platforms/**/*.ts'],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          paths: [
            {
              name: '@temporalio/workflow',
              importNames: ['proxyLocalActivities', 'scheduleLocalActivity'],
              message: 'A query in the same task can make its replay fail: see docs/decisions/0012.',
            },
          ],
          patterns: [
            { group: ['node:*', 'fs', 'path', 'crypto', 'os', 'http', 'https', 'zod', 'pino', 'pg', 'kysely'] },
          ],
        },
      ],
    },
  },
  {
    files: ['**/*.mjs', '**/*.cjs', '**/*.js'],
    languageOptions: {
      globals: {
        process: 'readonly',
        console: 'readonly',
        require: 'readonly',
        module: 'writable',
        URL: 'readonly',
        setTimeout: 'readonly',
        clearTimeout: 'readonly',
        __dirname: 'readonly',
        Buffer: 'readonly',
        fetch: 'readonly',
        performance: 'readonly',
        AbortSignal: 'readonly',
      },
    },
  },
);
