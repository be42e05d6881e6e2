// Pictures of the trigger, runs and executions: node console/test/screenshots-of-runs.ts [folder] [how many devices …].
// Not a test.

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { registerDevices, startFleet } from '@jobcast/sim'
import { newDevice } from '@jobcast/testkit/call-device'
import type { OpenServer } from '@jobcast/testkit/open-server'
import type { Page } from 'playwright-core'
import { openBrowser } from './open-browser.ts'
import { openOwnServer, signIn } from './open-console.ts'

const [, , folder = 'screenshots', ...sizes] = process.argv
mkdirSync(folder, { recursive: true })

const looks = [
  { name: '1440-light', viewport: { width: 1440, height: 900 }, colorScheme: 'light' },
  { name: '1440-dark', viewport: { width: 1440, height: 900 }, colorScheme: 'dark' },
  { name: '390-light', viewport: { width: 390, height: 844 }, colorScheme: 'light' },
] as const

type World = { run: number; live: number; failed: number; told: number }
type Shot = { name: string; path: (world: World) => string; prepare?: (page: Page) => Promise<void> }

const shots: Shot[] = [
  { name: 'trigger-empty', path: () => '/trigger' },
  { name: 'trigger', path: () => '/trigger?jobName=update-firmware', prepare: chooseDevices },
  { name: 'runs', path: () => '/runs' },
  { name: 'run', path: ({ run }) => `/runs/${run}`, prepare: untilDrawn },
  { name: 'run-live', path: ({ live }) => `/runs/${live}`, prepare: untilDrawn },
  { name: 'executions', path: () => '/executions' },
  { name: 'execution', path: ({ told }) => `/executions/${told}` },
  { name: 'execution-failed', path: ({ failed }) => `/executions/${failed}` },
]

for (const size of sizes.length > 0 ? sizes.map(Number) : [0, 20, 10_000]) {
  test(`${size} devices`, { timeout: 900_000 }, async (t) => {
    const server = await openOwnServer(t)
    const world = await fill(t, server, size)
    for (const { name: look, ...options } of looks) {
      const context = await (await openBrowser()).newContext({
        ...options,
        locale: 'en-US',
        deviceScaleFactor: 1.5,
      })
      const page = await context.newPage()
      page.on('pageerror', (error) => console.error(error))
      await signIn(page, server)
      for (const { name, path, prepare } of shots) {
        await page.goto(server.http + path(world))
        await page.locator('main h1').waitFor()
        if (size > 0) await prepare?.(page)
        await page.waitForLoadState('load')
        await page.waitForTimeout(1200)
        await page.screenshot({ path: join(folder, `${name}-${size}-${look}.png`), fullPage: true })
      }
      await context.close()
    }
  })
}

async function chooseDevices(page: Page): Promise<void> {
  await page.getByLabel('Search devices').fill('1')
  await page.getByRole('button', { name: /^Add all/ }).click()
}

async function untilDrawn(page: Page): Promise<void> {
  await page.locator('.time-chart canvas').waitFor()
}

async function fill(t: TestContext, server: OpenServer, size: number): Promise<World> {
  const world = { run: 1, live: 1, failed: 1, told: 1 }
  if (size === 0) return world
  const deviceIds = Array.from({ length: size }, (_, index) => `kiosk-${String(index + 1).padStart(5, '0')}`)
  const jobs = {
    restart: 'Restarts the kiosk application',
    'update-firmware': 'Installs what is newest',
    'collect-logs': '',
  }
  for (const [jobName, description] of Object.entries(jobs)) {
    const document = { handler: jobName, args: ['kiosk-app', { channel: 'stable' }] }
    await server.call('PUT', `/job/api/jobs/${jobName}`, { body: { description, document } })
  }
  const devices = await registerDevices(
    (method, path, options) => server.call(method, path, options),
    deviceIds,
  )
  const present = devices.filter((_, index) => index % 16 !== 7)
  const start = async (pattern: object) => {
    const fleet = startFleet({ mqtt: server.server.mqtt, devices: present, pattern, tell: () => undefined })
    t.after(() => fleet.stop())
    await fleet.whenUp()
    return fleet
  }
  const runOf = async (jobName: string, ids: string[]) =>
    Number((await server.trigger(jobName, ids)).headers.get('location')?.split('/').at(-1))
  const until = async (runId: number, open: (counts: Record<string, number>) => boolean) => {
    for (;;) {
      const { json } = await server.call('GET', `/job/api/runs/${runId}`)
      if (open(json.counts)) return
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
  }
  const quick = await start({
    workSeconds: { from: 0, to: 4 },
    failureRate: 0.06,
    rejectRate: 0.01,
    outputLines: 40,
  })
  world.run = await runOf('update-firmware', deviceIds)
  await until(world.run, ({ PENDING = 0, IN_PROGRESS = 0 }) => IN_PROGRESS === 0 && PENDING <= size / 16 + 1)
  await server.call('POST', `/job/api/runs/${world.run}/cancel`)
  await server.call('POST', `/job/api/runs/${world.run}/retry`)
  const { json } = await server.call('GET', `/job/api/executions?runId=${world.run}&execState=FAILED`)
  world.failed = json.items[0]?.jobExecutionId ?? 1
  await quick.stop()
  world.told = await tellStory(server)
  await start({ workSeconds: { from: 1, to: 60 }, failureRate: 0.04, outputLines: 5 })
  world.live = await runOf('restart', deviceIds.slice(0, Math.ceil(size * 0.8)))
  await new Promise((resolve) => setTimeout(resolve, 6000))
  return world
}

/** An execution that waited behind another, then ran and wrote in colours. */
async function tellStory(server: OpenServer): Promise<number> {
  const device = await newDevice(server, 'till-berlin-4')
  await server.trigger('restart', ['till-berlin-4'])
  const [{ jobExecutionId }] = (await server.trigger('collect-logs', ['till-berlin-4'])).json
  await new Promise((resolve) => setTimeout(resolve, 2500))
  const first = (await device.startNext()).json.execution
  await new Promise((resolve) => setTimeout(resolve, 1500))
  await device.update(Number(first.jobId), 'SUCCEEDED')
  await device.startNext()
  const lines = Array.from({ length: 400 }, (_, index) => {
    const level =
      index % 37 === 5
        ? '\x1b[33mWARN\x1b[0m'
        : index % 53 === 7
          ? '\x1b[1;31mERROR\x1b[0m'
          : '\x1b[32mINFO\x1b[0m'
    return `\x1b[90m12:0${index % 10}:14\x1b[0m ${level} collected /var/log/kiosk/app-${index}.log \x1b[36m${index * 17} bytes\x1b[0m`
  })
  await device.output(jobExecutionId, 0, `${lines.join('\n')}\n`)
  await device.update(jobExecutionId, 'SUCCEEDED', { statusDetails: { exitCode: '0', progress: '100' } })
  return jobExecutionId
}

after(() => console.log(`The pictures are in ${folder}.`))
