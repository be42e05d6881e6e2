// `test` for tests that only `npm run test:chaos` runs: they repeat what `npm test` tests once, in another way, on the second
// store or in a separate process.

import { type TestContext, type TestOptions, test } from 'node:test'
import { isChaos } from './test-size.ts'

type Body = (t: TestContext) => void | Promise<void>

export function chaosTest(title: string, ...rest: [Body] | [TestOptions, Body]): void {
  if (!isChaos) return
  if (rest.length === 1) test(title, rest[0])
  else test(title, ...rest)
}

/** The same for a test within another. */
export async function chaosSubtest(t: TestContext, title: string, body: Body): Promise<void> {
  if (isChaos) await t.test(title, body)
}
