import { defineConfig } from 'vitest/config'

// Tests read the sources of every package, so that a failing line is a line of src/ and no build is needed first.
const source = (name: string) => new URL(`./packages/${name}/src/index.ts`, import.meta.url).pathname

export default defineConfig({
  resolve: {
    alias: {
      '@simba/core': source('core'),
      '@simba/testing': source('testing'),
      '@simba/tck': source('tck'),
      '@simba/sql': source('sql'),
    },
  },
  test: {
    include: ['{packages/*,demo,examples,simulate,torture}/test/**/*.test.ts'],
    unstubGlobals: true,
  },
})
