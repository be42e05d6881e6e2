// Every example of the README and of docs/ is run as it stands there; run-page.ts has the rules.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { skip } from './needed-programs.ts'
import { openSandbox } from './open-sandbox.ts'
import { examplesOf, pages, staleNotRun } from './pages.ts'
import { runPage } from './run-page.ts'

/** A failsafe for a very busy machine: a page takes seconds. */
const timeout = 240_000

/** Read one after the other, on the same service. */
const firstSteps = ['README.md', 'docs/quick-start.md']
const ofTheirOwn = pages.filter((page) => !firstSteps.includes(page) && examplesOf(page).length > 0)

describe('the examples run', { concurrency: 2, skip }, () => {
  for (const readInOrder of [firstSteps, ...ofTheirOwn.map((page) => [page])]) {
    test(readInOrder.join(', then '), { timeout }, async (t) => {
      const sandbox = await openSandbox(t)
      for (const page of readInOrder) await runPage(examplesOf(page), sandbox, t.signal)
    })
  }
})

test('what is not run is still there', () => {
  assert.deepEqual(staleNotRun(), [])
})
