// `test` for what only `npm run test:chaos` runs: it repeats what `npm test` tries once, from another side, on the second
// store or in a process of its own.

import { type TestContext, type TestOptions, test } from 'node:test'
import { isChaos } from './test-size.ts'

type Body = (t: TestContext) => void | Promise<void>

export function chaosTest(title: string, ...rest: [Body] | [TestOptions, Body]): void {
  if (!isChaos) return
  if (rest.length === 1) test(title, rest[0])
  else test(title, ...rest)
}
