// Problems of a page: errors on its console, exceptions, violated policies, failed requests and error responses.

import type { Page } from 'playwright-core'

export type Problems = {
  /** From here on problems count, but for those that the test expects. */
  start(expected?: RegExp[]): void
  /** All problems since the start. Later ones, while no test uses the page, are not recorded. */
  stop(): string[]
}

export async function watchProblems(page: Page): Promise<Problems> {
  let found: string[] | undefined
  let expected: RegExp[] = []
  const note = (problem: string) => {
    if (!expected.some((pattern) => pattern.test(problem))) found?.push(problem)
  }
  page.on('console', (message) => {
    if (message.type() === 'error') note(`console: ${message.text()} ${message.location().url}`)
  })
  page.on('pageerror', (error) => note(`exception: ${error.stack ?? error.message}`))
  page.on('requestfailed', (request) => {
    const why = request.failure()?.errorText ?? ''
    if (why !== 'net::ERR_ABORTED') note(`request failed: ${request.method()} ${request.url()} ${why}`)
  })
  page.on('response', (response) => {
    if (response.status() >= 400) note(`answer: ${response.status()} ${response.url()}`)
  })
  await page.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', (event) => {
      console.error(`policy violated: ${event.violatedDirective} ${event.blockedURI}`)
    })
  })
  return {
    start(patterns = []) {
      found = []
      expected = patterns
    },
    stop() {
      const all = found ?? []
      found = undefined
      return all
    },
  }
}
