// A real browser, one for each test file. A test fails if its page reports a problem.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { afterAllFiles } from '@jobcast/testkit/after-all-files'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { findBrowser } from './find-browser.ts'
import { type Problems, watchProblems } from './page-problems.ts'

/** Of what the package proposes, not `--disable-web-security` and its like: the rules of the web are under test. */
const args = [
  '--no-sandbox',
  '--disable-dev-shm-usage',
  '--font-render-hinting=none',
  // Nothing here needs a GPU, and emulating one costs CPU time.
  '--disable-gpu',
  // An installed browser checks for updates; tests must not send requests to other hosts.
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
]

let opened: Promise<Browser> | undefined
afterAllFiles(async () => (await opened?.catch(() => undefined))?.close())

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

type WatchedPage = { page: Page; problems: Problems }

/** With a profile of its own, closed after the test. */
export async function openPage(t: TestContext, options: PageOptions = {}): Promise<Page> {
  const { expected, ...contextOptions } = options
  const { page, problems } = await newPage(contextOptions)
  problems.start(expected)
  closesOf(t).push(async () => {
    await page.context().close()
    assert.deepEqual(problems.stop(), [])
  })
  return page
}

const borrowed = new Map<string, Promise<WatchedPage>>()

/**
 * The page that the tests of this file use one after the other, if they want the same kind: a new one takes as long as
 * a whole test. What is kept in the browser (cookies, the theme) passes from test to test; where that matters, openPage.
 * `isKept`: the next test may continue from where this one leaves it.
 */
export async function borrowPage(
  t: TestContext,
  options: PageOptions = {},
  isKept: (page: Page) => boolean = () => false,
): Promise<Page> {
  const { expected, ...contextOptions } = options
  const kind = JSON.stringify(contextOptions)
  const opening = borrowed.get(kind) ?? newPage(contextOptions)
  borrowed.set(kind, opening)
  const { page, problems } = await opening
  const size = page.viewportSize()
  problems.start(expected)
  closesOf(t).push(async () => {
    const found = problems.stop()
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    if (size) await page.setViewportSize(size)
    // The server of this test may be gone before the next one uses the page.
    if (!isKept(page)) await page.goto('about:blank')
    assert.deepEqual(found, [])
  })
  return page
}

async function newPage(contextOptions: BrowserContextOptions): Promise<WatchedPage> {
  // Without a language the browser takes one from the machine that may be none (`en-US@posix`).
  // Without motion there is no moment in which a colour is half another one.
  const defaults = { locale: 'en-US', reducedMotion: 'reduce' } as const
  const context = await (await openBrowser()).newContext({ ...defaults, ...contextOptions })
  const page = await context.newPage()
  // A machine that does ten other things at once is slow, and nothing here is about speed.
  page.setDefaultTimeout(40_000)
  return { page, problems: await watchProblems(page) }
}

type Close = () => Promise<void>
const closes = new WeakMap<TestContext, Close[]>()

/** To be called before a server is opened: what is registered first runs first, and a page without a server complains. */
export function closePagesFirst(t: TestContext): void {
  closesOf(t)
}

function closesOf(t: TestContext): Close[] {
  const existing = closes.get(t)
  if (existing) return existing
  const list: Close[] = []
  closes.set(t, list)
  t.after(async () => {
    for (const close of list) await close()
  })
  return list
}
