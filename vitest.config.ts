import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    setupFiles: ['test/support/setup.ts'],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    pool: 'forks',
    // A third of the time is waiting for engines, so three share two cores.
    maxWorkers: 3,
    maxConcurrency: 3,
  },
});
