// `test` for what needs a browser: skipped, with the reason, on a machine where none can be found.

import { test as nodeTest, type TestContext } from 'node:test'
import { isChaos } from '@jobcast/testkit/test-size'
import { hasBrowser, noBrowser } from './find-browser.ts'

const skip = hasBrowser() ? false : noBrowser

/** The slowest test takes seconds; a machine that does ten other things at once needs twenty times as long. */
const timeout = 120_000

export function test(title: string, body: (t: TestContext) => Promise<void>): void {
  nodeTest(title, { skip, timeout }, body)
}

/** For one that `npm run test:chaos` runs only: a screen that `npm test` sees as well, from another side. */
export function chaosTest(title: string, body: (t: TestContext) => Promise<void>): void {
  if (isChaos) test(title, body)
}
