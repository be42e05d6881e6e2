import { defineConfig } from 'vite'
import packageJson from '../package.json' with { type: 'json' }

/** Modules that every screen loads. As one file they are compressed better, and no other file has to list their names. */
const onEveryScreen = [
  /node_modules[\\/](?:preact|@preact|@tanstack)[\\/]|client[\\/]src[\\/]/,
  /console[\\/]src[\\/](?:router|routes|scopes|theme|wall|match-path|kept-scroll|reload-when-back)\./,
  /console[\\/]src[\\/]live[\\/](?!events-worker)/,
  /console[\\/]src[\\/]palette[\\/]open-palette\./,
  /console[\\/]src[\\/]api[\\/](?:client|issuer|queries|paged-list|read-why-waiting|refusal|self|ticket|use-action|use-approvals|use-list|use-query|query-client)\./,
  /console[\\/]src[\\/]parts[\\/](?:icon|parse-time|natural-order|time|state-bar|exec-state|navigation|key-help|field|freeze-banner|error-note|dialog|page-header|relative-time|lazy-part|empty-state|owner-switch|connection-state|is-focus-free|screen-title|counts-words|run-state-word|duration)\./,
]

/** What most screens load together: fewer files, of which more is the same. A screen that needs none of a group does not load it. */
const groups = [
  { name: 'base', test: (id: string) => onEveryScreen.some((each) => each.test(id)), priority: 2 },
  {
    name: 'lists',
    test: /console[\\/]src[\\/](?:parts[\\/](?:data-table|paged-table|visible-rows|sorted-rows|is-narrow|list-screen|select-column|saved-views)|screens[\\/]executions[\\/](?:execution-columns|live-executions|export|job-filter))\./,
  },
  {
    name: 'parts',
    priority: 1,
    test: /console[\\/]src[\\/](?:parts[\\/](?:wrong-filters|is-possible-name|tabs|use-settled|presence|confirm-button|copy-button|state-badge|principal-word|maker|facts|form-dialog|check-list|trigger-href|use-seconds|error-at|code-block|command-line)|api[\\/](?:refresh-keys|request-key|is-there)|styles[\\/]forms)\./,
  },
  {
    name: 'rollout',
    test: /console[\\/]src[\\/]rollout[\\/](?:rollout-part|rollout-picture|rollout-buttons|resume-without|wave-lane|wave-parts|gate-of-run|gate-words|stop-rules|rule-words|why-not-approve|causes|rollout|picture)\./,
  },
]

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
        codeSplitting: { groups },
      },
    },
  },
})
