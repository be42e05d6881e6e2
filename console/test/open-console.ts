// A real server with the built console, simulated devices if wanted, and a page that is signed in.

import type { TestContext } from 'node:test'
import { type Fleet, type Pattern, registerDevices, startFleet } from '@jobcast/sim'
import { type OpenServer, openServer, type ServerOptions } from '@jobcast/testkit/open-server'
import type { Page } from 'playwright-core'
import { buildConsoleIfStale } from '../build.ts'
import { closePagesFirst, openPage, type PageOptions } from './open-browser.ts'

export type OpenConsole = { server: OpenServer; page: Page }

export type ConsoleOptions = PageOptions & {
  server?: ServerOptions
  /** Where the page begins. */
  path?: string
}

export async function openConsoleServer(t: TestContext, options: ServerOptions = {}): Promise<OpenServer> {
  await buildConsoleIfStale()
  closePagesFirst(t)
  return openServer(t, options)
}

/** Signed in with the admin key, and the stream of events stands. */
export async function openConsole(t: TestContext, options: ConsoleOptions = {}): Promise<OpenConsole> {
  const { server: serverOptions, path = '/', ...pageOptions } = options
  const server = await openConsoleServer(t, serverOptions)
  const page = await openPage(t, pageOptions)
  await signIn(page, server, path)
  return { server, page }
}

export async function signIn(page: Page, server: OpenServer, path = '/'): Promise<void> {
  const next = path === '/' ? '' : `?next=${encodeURIComponent(path)}`
  await page.goto(`${server.http}/sign-in${next}#ticket=${await newTicket(server)}`)
  await waitUntilLive(page)
}

export async function newTicket(server: OpenServer): Promise<string> {
  const { json } = await server.call('POST', '/job/api/session/tickets')
  return json.ticket
}

export async function waitUntilLive(page: Page): Promise<void> {
  await page.locator('.connection.live').waitFor()
}

/** Devices that connect and carry out what they are told, until the test ends. */
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
