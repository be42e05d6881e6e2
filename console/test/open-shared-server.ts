// One server for all tests of a file: they use names of their own.

import { after, type TestContext } from 'node:test'
import { type OpenServer, openServer, type ServerOptions } from '@jobcast/testkit/open-server'
import type { Page } from 'playwright-core'
import { buildConsoleIfStale } from '../build.ts'
import { openPage, type PageOptions } from './open-browser.ts'
import { signIn, waitUntilLive } from './open-console.ts'

export async function openSharedServer(options: ServerOptions = {}): Promise<OpenServer> {
  await buildConsoleIfStale()
  return openServer({ after } as unknown as TestContext, options)
}

/** A page of the test's own, signed in with the admin key. */
export async function openSignedIn(
  t: TestContext,
  server: OpenServer,
  path: string,
  options: PageOptions = {},
): Promise<Page> {
  const page = await openPage(t, options)
  await signIn(page, server, path)
  return page
}

/** Signed in with another key. */
export async function openWithKey(
  t: TestContext,
  server: OpenServer,
  apiKey: string,
  options: PageOptions = {},
): Promise<Page> {
  const page = await openPage(t, options)
  await page.goto(server.http)
  await page.getByLabel('API key').fill(apiKey)
  await page.keyboard.press('Enter')
  await waitUntilLive(page)
  return page
}

/** Into the first field of the dialog that has just been opened, which gets the focus by itself. */
export async function typeFirst(page: Page, text: string): Promise<void> {
  await page.locator('dialog[open] input:focus').waitFor()
  await page.keyboard.type(text)
}
