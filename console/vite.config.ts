import { defineConfig } from 'vite'
import packageJson from '../package.json' with { type: 'json' }

/** Modules that every screen loads. As one file they are compressed better, and no other file has to list their names. */
const onEveryScreen = [
  /node_modules[\\/](?:preact|@preact)[\\/]|client[\\/]src[\\/]/,
  /console[\\/]src[\\/](?:app|router|routes|scopes|theme|wall|match-path|kept-scroll|reload-when-back)\./,
  /console[\\/]src[\\/]live[\\/](?!events-worker)/,
  /console[\\/]src[\\/]palette[\\/]open-palette\./,
  /console[\\/]src[\\/]api[\\/](?:client|issuer|queries|paged-list|refusal|self|ticket|use-action|use-approvals|use-list|use-query|query-cache|query-key|query|keep-equal)\./,
  /console[\\/]src[\\/]parts[\\/](?:icon|parse-time|natural-order|time|state-bar|exec-state|navigation|key-help|field|freeze-banner|error-note|dialog|page-header|relative-time|lazy-part|empty-state|owner-switch|connection-state|is-focus-free|screen-title|counts-words|run-state-word|duration)\./,
]

/** What most screens load together: fewer files, of which more is the same. A screen that needs none of a group does not load it. */
const groups = [
  { name: 'base', test: (id: string) => onEveryScreen.some((each) => each.test(id)), priority: 2 },
  {
    name: 'lists',
    test: /console[\\/]src[\\/]parts[\\/](?:data-table|paged-table|visible-rows|sorted-rows|is-narrow)\./,
  },
  {
    name: 'executions',
    test: /console[\\/]src[\\/]screens[\\/]executions[\\/](?:execution-columns|live-executions|export)\./,
  },
  { name: 'list-screens', test: /console[\\/]src[\\/]parts[\\/](?:list-screen|select-column|saved-views)\./ },
  {
    name: 'parts',
    priority: 1,
    test: /console[\\/]src[\\/](?:parts[\\/](?:wrong-filters|tabs|presence|confirm-button|state-badge|principal-word|maker|facts|trigger-href|use-seconds|failing-note)|api[\\/]refresh-keys)\.|contract[\\/]src[\\/]who-in-words\./,
  },
  {
    name: 'forms',
    priority: 1,
    test: /console[\\/]src[\\/](?:parts[\\/](?:is-possible-name|use-settled|copy-button|form-dialog|check-list|error-at|local-time|priority-field|window-field|code-block)|api[\\/](?:request-key|is-there)|parameters[\\/]parameters-draft|styles[\\/]forms)\.|contract[\\/]src[\\/]required-approvals\./,
  },
  { name: 'attention', test: /console[\\/]src[\\/]attention[\\/](?:use|watch)-attention\./ },
  // With the script of the rollout, they would load that on screens that only edit rollouts.
  { name: 'rollout-style', test: /console[\\/]src[\\/]rollout[\\/](?:rollout|picture)\.css/, priority: 3 },
  {
    name: 'rollout',
    test: /console[\\/]src[\\/]rollout[\\/](?:rollout-part|rollout-picture|wave-lane|wave-parts|gate-of-run|gate-row|gate-words|stop-rules|rule-words)\./,
  },
  {
    name: 'rollout-actions',
    test: /console[\\/]src[\\/]rollout[\\/](?:rollout-buttons|why-not-approve|causes)\./,
  },
  { name: 'selector', test: /contract[\\/]src[\\/]selector[\\/](?:selector|tokens|attribute-rules)\./ },
  { name: 'selector-field', test: /console[\\/]src[\\/]selector[\\/]/ },
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
