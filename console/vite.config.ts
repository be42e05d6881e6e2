import { defineConfig } from 'vite'
import packageJson from '../package.json' with { type: 'json' }

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
    rolldownOptions: { checks: { bundlerTimings: false } },
  },
})
