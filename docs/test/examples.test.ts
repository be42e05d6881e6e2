// Runs every example of the README and docs/ exactly as printed; run-page.ts has the rules.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isChaos } from '@jobcast/testkit/test-size'
import { lacking, skip } from './needed-programs.ts'
import { openSandbox } from './open-sandbox.ts'
import { literalIds } from './page-ids.ts'
import { examplesOf, pages, readPage, staleNotRun } from './pages.ts'
import { runPage } from './run-page.ts'

/** A failsafe for a very busy machine: a page takes seconds. */
const timeout = 1_200_000

/** Read one after the other, on the same service: what one changes is not what another shows. */
const togetherInOrder = [
  [
    'README.md',
    'docs/quick-start.md',
    'docs/guides/parameters-and-versions.md',
    'client/README.md',
    'docs/deploy.md',
    'docs/errors.md',
    'docs/install.md',
  ],
  [
    ...['docs/operations.md', 'docs/sim.md', 'docs/rollouts.md', 'docs/schedules.md', 'docs/webhooks.md'],
    ...['docs/windows.md', 'docs/guides/choose-devices.md', 'docs/guides/keep-to-maintenance-windows.md'],
    'docs/guides/give-devices-a-secret.md',
    'docs/fleet-as-code.md',
  ],
]
const ofTheirOwn = pages.filter(
  (page) => !togetherInOrder.flat().includes(page) && examplesOf(page).length > 0,
)

/** Whoever reads a guide has often read this one before, on the same service. */
const firstRead = 'docs/quick-start.md'
const guides = pages.filter((page) => page.startsWith('docs/guides/') && examplesOf(page).length > 0)

/** `npm test` runs the pages that are read first, in their order; `npm run test:chaos` all, and guides after the first page as well. */
const run = isChaos
  ? [...togetherInOrder, ...ofTheirOwn.map((page) => [page]), ...guides.map((guide) => [firstRead, guide])]
  : togetherInOrder.slice(0, 1)

describe('the examples run', { concurrency: 2, skip }, () => {
  for (const readInOrder of run) {
    test(readInOrder.join(', then '), { timeout, skip: lacking(readInOrder) }, async (t) => {
      const sandbox = await openSandbox(t)
      for (const page of readInOrder) {
        await runPage(examplesOf(page), sandbox, t.signal).catch((error: Error) => {
          throw new Error(`${page}, ${error.message}`)
        })
      }
    })
  }
})

test('no example names a run or an execution by a number', () => {
  const found = pages.flatMap((page) =>
    examplesOf(page)
      .filter(({ language }) => language === 'sh')
      .flatMap(({ line, text }) => literalIds(text).map((command) => `${page}:${line}: ${command}`)),
  )
  assert.deepEqual(found, [])
  assert.equal(
    literalIds('RUN=3\nruns rollback 3\ncurl $URL/job/api/runs/3\nruns --limit 3\nruns get $RUN').length,
    3,
  )
})

// The name is not registered: an attacker who registers it could run code on the machines of readers without a checkout.
test('npx never fetches jobcast', () => {
  for (const page of pages) assert.doesNotMatch(readPage(page), /npx (?:--yes |-y )?jobcast/, page)
})

test('what is not run is still there', () => {
  assert.deepEqual(staleNotRun(), [])
})
