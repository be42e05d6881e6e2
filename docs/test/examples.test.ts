// Every example of the README and of docs/ is run as it stands there; run-page.ts tells how.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { skip } from './needed-programs.ts'
import { openWorld } from './open-world.ts'
import { examplesOf, pages, staleNotRun } from './pages.ts'
import { runPage } from './run-page.ts'

describe('the examples run', { concurrency: 2, skip }, () => {
  for (const page of pages) {
    const examples = examplesOf(page)
    if (examples.length === 0) continue
    test(page, async (t) => runPage(examples, await openWorld(t)))
  }
})

test('what is not run is still there', () => {
  assert.deepEqual(staleNotRun(), [])
})
