// `test` for what needs a browser: skipped, with the reason, on a machine where none can be had.

import { test as nodeTest, type TestContext } from 'node:test'
import { hasBrowser, noBrowser } from './find-browser.ts'

const skip = hasBrowser() ? false : noBrowser

export function test(title: string, body: (t: TestContext) => Promise<void>): void {
  nodeTest(title, { skip }, body)
}
