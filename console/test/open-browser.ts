// A real browser, one for each test file. Each test has a profile of its own, and fails if its page says that
// something is wrong.

import assert from 'node:assert/strict'
import { after, type TestContext } from 'node:test'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { findBrowser } from './find-browser.ts'

/** Of what the package proposes, not `--disable-web-security` and its like: the rules of the web are under test. */
const args = [
  '--no-sandbox',
  '--disable-dev-shm-usage',
  '--font-render-hinting=none',
  // A browser of the machine asks its maker for updates; the tests call nobody.
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
]

let opened: Promise<Browser> | undefined
after(async () => (await opened?.catch(() => undefined))?.close())

export function openBrowser(): Promise<Browser> {
  opened ??= launch()
  return opened
}

async function launch(): Promise<Browser> {
  return chromium.launch({ ...(await findBrowser()), args, timeout: 60_000 })
}

export type PageOptions = BrowserContextOptions & {
  /** Messages and addresses that this test provokes. */
  expected?: RegExp[]
}

/** Closed after the test. Errors on the console, exceptions, violated policies and failed requests fail the test. */
export async function openPage(t: TestContext, options: PageOptions = {}): Promise<Page> {
  const { expected = [], ...contextOptions } = options
  // Without a language the browser takes one from the machine that may be none (`en-US@posix`), and uPlot stumbles.
  const context = await (await openBrowser()).newContext({ locale: 'en-US', ...contextOptions })
  const page = await context.newPage()
  // A machine that does ten other things at once is slow, and nothing here is about speed.
  page.setDefaultTimeout(30_000)
  const problems: string[] = []
  const note = (problem: string) => {
    if (!expected.some((pattern) => pattern.test(problem))) problems.push(problem)
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
  closesOf(t).push(async () => {
    await context.close()
    assert.deepEqual(problems, [])
  })
  return page
}

type Close = () => Promise<void>
const closes = new WeakMap<TestContext, Close[]>()

/** To be called before a server is opened: what is registered first goes first, and a page without a server complains. */
export function closePagesFirst(t: TestContext): void {
  closesOf(t)
}

function closesOf(t: TestContext): Close[] {
  const known = closes.get(t)
  if (known) return known
  const list: Close[] = []
  closes.set(t, list)
  t.after(async () => {
    for (const close of list) await close()
  })
  return list
}
