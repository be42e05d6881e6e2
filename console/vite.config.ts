import { defineConfig } from 'vite'
import packageJson from '../package.json' with { type: 'json' }

/** Modules that every screen loads. As one file they are compressed better, and no other file has to list their names. */
const onEveryScreen =
  /node_modules[\\/](?:preact|@preact|@tanstack)[\\/]|client[\\/]src[\\/]|parts[\\/](?:icon|parse-time|natural-order|time|state-bar)\.|api[\\/](?:refusal|self|use-list)\./

export default defineConfig({
  root: import.meta.dirname,
  // What the page asks for while it is developed: `npm run dev -w console` beside `npm start`.
  server: { proxy: { '/job': 'http://127.0.0.1:8080' } },
  define: { 'import.meta.env.JOBCAST_VERSION': JSON.stringify(packageJson.version) },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    target: 'es2023',
    assetsInlineLimit: 0, // the content security policy lets nothing inline through
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // For the notices of the package; deploy/packages/third-party.ts reads it.
    license: { fileName: '.vite/license.json' },
    // On a slow machine it would print which plugins took how long.
    rolldownOptions: {
      checks: { bundlerTimings: false },
      output: {
        codeSplitting: { groups: [{ name: 'base', test: onEveryScreen }] },
      },
    },
  },
})
