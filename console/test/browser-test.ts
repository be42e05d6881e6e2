// `test` for tests that need a browser. Without one they are skipped with the reason; in CI they fail, because a skipped test
// would go unnoticed there.

import { test as nodeTest, type TestContext } from 'node:test'
import { isChaos } from '@jobcast/testkit/test-size'
import { whyNoBrowser } from './find-browser.ts'

const isCi = !['', '0', 'false'].includes(process.env.CI ?? '')

/** The slowest test takes seconds; a machine that does twenty other things at once needs forty times as long. */
const timeout = 240_000

export function test(title: string, body: (t: TestContext) => Promise<void>): void {
  nodeTest(title, { timeout }, async (t) => {
    const reason = await whyNoBrowser()
    if (reason === undefined) return body(t)
    if (isCi) throw new Error(`in CI this must run: ${reason}`)
    t.skip(reason)
  })
}

/** For one that `npm run test:chaos` runs only: a screen that `npm test` sees as well, from another side. */
export function chaosTest(title: string, body: (t: TestContext) => Promise<void>): void {
  if (isChaos) test(title, body)
}
