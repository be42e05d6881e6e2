// A page of the built console, signed in, on a real server. The tests of a process share one server; each file or test
// has its own owner there, so that it sees only its own resources. Simulated devices are optional.

import type { TestContext } from 'node:test'
import { type Fleet, type Pattern, registerDevices, startFleet } from '@jobcast/sim'
import { afterAllFiles } from '@jobcast/testkit/after-all-files'
import { type Api, buildApi } from '@jobcast/testkit/call-api'
import { type OpenServer, openServer, type ServerOptions } from '@jobcast/testkit/open-server'
import type { Page } from 'playwright-core'
import { buildConsoleIfStale } from '../build.ts'
import { borrowPage, closePagesFirst, openPage, type PageOptions } from './open-browser.ts'

type OpenConsole = { server: OpenServer; page: Page }

type ConsoleOptions = PageOptions & {
  /** Where the page begins. */
  path?: string
}

let shared: Promise<OpenServer> | undefined

/** The server of all tests of this process, closed after the last one. */
export async function openSharedServer(): Promise<OpenServer> {
  const ending = { after: afterAllFiles }
  shared ??= buildConsoleIfStale().then(() => openServer(ending, { webhookAllow: ['127.0.0.1'] }))
  return shared
}

/** A new owner on the shared server, with a page that is signed in with the owner's key. */
export async function openConsole(t: TestContext, options: ConsoleOptions = {}): Promise<OpenConsole> {
  const { path = '/', ...pageOptions } = options
  const server = await openOwner()
  return { server, page: await openSignedIn(t, server, path, pageOptions) }
}

let owners = 0

/** A new owner with a key that has all scopes except ADMIN. */
export async function openOwner(): Promise<OpenServer> {
  const server = await openSharedServer()
  const { key } = await server.newOwner(`owner-${++owners}`)
  return { ...server, ...buildApi(server.http, key) }
}

/** A new owner with a key of a person who does everything but ADMIN. */
export async function openOperator(): Promise<OpenServer & { ownerId: string }> {
  const owner = await openOwner()
  const { ownerId } = (await owner.call('GET', '/job/api/keys/self')).json
  const { newKey, http } = await openSharedServer()
  const scopes = ['READ', 'TRIGGER', 'MANAGE', 'APPROVE', 'AUDIT'] as const
  const { apiKey } = await newKey([...scopes], { ownerId, keyName: 'operator' })
  return { ...owner, ...buildApi(http, apiKey), ownerId }
}

/** A server for one test alone, which may stop it or set it up in its own way. */
export async function openOwnServer(t: TestContext, options: ServerOptions = {}): Promise<OpenServer> {
  await buildConsoleIfStale()
  closePagesFirst(t)
  return openServer(t, options)
}

/** The page of the file, signed in with the key of the api. */
export async function openSignedIn(
  t: TestContext,
  api: Api,
  path: string,
  options: PageOptions = {},
): Promise<Page> {
  // The shared server outlives the test, and loading the page takes longer than most tests.
  const lasting = await shared
  const isKept = (left: Page) => lasting !== undefined && left.url().startsWith(lasting.http)
  const page = await borrowPage(t, options, isKept)
  if (isSignedIn(page, api) && (await canGo(page, path))) await go(page, path)
  else await signIn(page, api, path)
  return page
}

/** A screen that is open already would keep its state, and so would a dialog that a failed test has left. */
async function canGo(page: Page, path: string): Promise<boolean> {
  const isSame = new URL(page.url()).pathname === path.split('?', 1)[0]
  return !isSame && (await page.locator('dialog[open]').count()) === 0
}

/** Signed in with another key, and with a profile of its own: what it leaves there is of no concern to other tests. */
export async function openWithKey(
  t: TestContext,
  api: Api,
  apiKey: string,
  options: ConsoleOptions = {},
): Promise<Page> {
  const { path = '/', ...pageOptions } = options
  const page = await openPage(t, pageOptions)
  await signIn(page, buildApi(api.http, apiKey), path)
  return page
}

type Cookie = { name: string; value: string }
const cookies = new Map<string, Promise<Cookie>>()
const prepared = new WeakSet<Page>()
const accounts = new WeakMap<Page, string>()

function accountOf({ http, adminKey }: Api): string {
  return `${http} ${adminKey}`
}

/** Left there by the test before, unless that has signed out. */
function isSignedIn(page: Page, api: Api): boolean {
  const isOpen = page.url().startsWith(api.http) && !page.url().includes('/sign-in')
  return isOpen && accounts.get(page) === accountOf(api)
}

/** By the cookie that the sign-in screen would have got. That screen has its own tests. */
export async function signIn(page: Page, api: Api, path = '/'): Promise<void> {
  const account = accountOf(api)
  // What is open there would be refused what another account may see.
  if (accounts.has(page) && accounts.get(page) !== account) await page.goto('about:blank')
  accounts.set(page, account)
  const cookie = cookies.get(account) ?? newSession(api)
  cookies.set(account, cookie)
  if (!prepared.has(page)) {
    prepared.add(page)
    // The page cannot see the cookie; by this it knows that there may be one.
    await page.addInitScript(() => {
      if (location.protocol !== 'about:') localStorage.setItem('jobcast-signed-in', 'yes')
    })
  }
  await page.context().addCookies([{ ...(await cookie), url: api.http, httpOnly: true, sameSite: 'Strict' }])
  await page.goto(api.http + path)
  await waitUntilLive(page)
}

async function newSession({ http, adminKey }: Api): Promise<Cookie> {
  const answer = await fetch(`${http}/job/api/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ apiKey: adminKey }),
  })
  const [, name, value] = /^([^=;]+)=([^;]+)/.exec(answer.headers.get('set-cookie') ?? '') ?? []
  if (!name || !value) throw new Error(`no session: ${answer.status} ${await answer.text()}`)
  return { name, value }
}

export async function waitUntilLive(page: Page): Promise<void> {
  await page.locator('.connection.live').waitFor()
}

/** To another screen without loading the page again. */
export async function go(page: Page, href: string): Promise<void> {
  await page.evaluate((to) => {
    const link = document.createElement('a')
    link.href = to
    document.body.append(link)
    link.click()
    link.remove()
  }, href)
}

/** Into the first field of the dialog that has just been opened, which gets the focus by itself. */
export async function typeFirst(page: Page, text: string): Promise<void> {
  await page.locator('dialog[open] input:focus').waitFor()
  await page.keyboard.type(text)
}

/** Devices that connect and run their executions, until the test ends. */
export async function simulateDevices(
  t: TestContext,
  server: OpenServer,
  deviceIds: string[],
  pattern: Partial<Pattern> = {},
): Promise<Fleet> {
  const devices = await registerDevices(
    (method, path, options) => server.call(method, path, options),
    deviceIds,
  )
  const fleet = startFleet({ mqtt: server.server.mqtt, devices, pattern, tell: () => undefined })
  t.after(() => fleet.stop())
  await fleet.whenUp()
  return fleet
}
