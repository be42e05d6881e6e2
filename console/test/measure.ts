// How smooth the console is with very much in it: node console/test/measure.ts [executions] [megabytes]. Not a test.

import { test } from 'node:test'
import { newDevice } from '@jobcast/testkit/call-device'
import type { OpenServer } from '@jobcast/testkit/open-server'
import type { Page } from 'playwright-core'
import { openBrowser } from './open-browser.ts'
import { go, openConsole } from './open-console.ts'

const [, , executions = '100000', megabytes = '10'] = process.argv
const devicesPerRun = 10_000

/** Counts frames and tasks of more than 50 ms while something is done. */
async function watch(page: Page, title: string, work: () => Promise<unknown>): Promise<void> {
  await page.evaluate(() => {
    const seen = { frames: [] as number[], long: [] as number[], isOver: false }
    Object.assign(window, { seen })
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) seen.long.push(duration)
    }).observe({ type: 'longtask' })
    let last = performance.now()
    const onFrame = (now: number) => {
      seen.frames.push(now - last)
      last = now
      if (!seen.isOver) requestAnimationFrame(onFrame)
    }
    requestAnimationFrame(onFrame)
  })
  const begun = performance.now()
  await work()
  const ms = performance.now() - begun
  const { frames, long } = await page.evaluate(() => {
    const { seen } = window as unknown as { seen: { frames: number[]; long: number[]; isOver: boolean } }
    seen.isOver = true
    return { frames: seen.frames.slice(1).sort((a, b) => a - b), long: seen.long }
  })
  const at = (share: number) => Math.round(frames[Math.floor(frames.length * share)] ?? 0)
  const longest = Math.round(Math.max(0, ...long))
  console.log(
    `${title}: ${Math.round(ms)} ms, ${frames.length} frames, median ${at(0.5)} ms, p95 ${at(0.95)} ms, worst ${at(0.9999)} ms; ` +
      `${long.length} long tasks, longest ${longest} ms`,
  )
}

/** Scrolls back and forth over the whole height, like a mouse wheel. */
async function scroll(page: Page, selector: string): Promise<void> {
  await page.evaluate(async (wanted) => {
    const box = document.querySelector(wanted) as HTMLElement
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve))
    const most = box.scrollHeight - box.clientHeight
    for (let step = 0; step <= 120; step++) {
      box.scrollTop = step % 2 === 0 ? (most * step) / 120 : box.scrollTop + 700
      await frame()
    }
    for (let step = 0; step < 120; step++) {
      box.scrollTop -= 120
      await frame()
    }
  }, selector)
}

test('a table of many rows', { timeout: 900_000 }, async (t) => {
  const { server, page } = await openConsole(t)
  await server.call('PUT', '/job/api/jobs/restart', { body: {} })
  const names = Array.from({ length: devicesPerRun }, (_, index) => `d${index}`)
  for (let from = 0; from < names.length; from += 200) {
    await Promise.all(
      names
        .slice(from, from + 200)
        .map((name) => server.call('PUT', `/job/api/devices/${name}`, { body: {} })),
    )
  }
  for (let made = 0; made < Number(executions); made += devicesPerRun) await server.trigger('restart', names)
  await watch(page, 'open a run of 10,000, with its curve', async () => {
    await go(page, '/runs/1')
    await page
      .getByRole('img', { name: /^Progress/ })
      .locator('canvas')
      .waitFor()
  })
  await page.goto(`${server.http}/executions`)
  const rows = page.locator('.data-table [role="row"][tabindex="0"]')
  await rows.focus()
  const table = page.getByRole('table')
  await watch(page, `read ${executions} rows page by page`, async () => {
    while ((await table.getAttribute('aria-rowcount')) === '-1') await page.keyboard.press('End')
  })
  await watch(page, `scroll through ${await table.getAttribute('aria-rowcount')} rows`, () =>
    scroll(page, '.data-table'),
  )
  await watch(page, 'the same while a run of 10,000 is made and canceled', async () => {
    const reply = await server.trigger('restart', names)
    await Promise.all([
      scroll(page, '.data-table'),
      server.call('POST', `${reply.headers.get('location')}/cancel`),
    ])
  })
  await watch(page, 'trigger: choose 10,000 devices', async () => {
    await go(page, '/trigger?jobName=restart')
    await page.getByRole('button', { name: 'Add all 10,000' }).click()
    await page.getByRole('heading', { name: '10,000 devices chosen' }).waitFor()
  })
})

test('a long output', { timeout: 600_000 }, async (t) => {
  const { server, page } = await openConsole(t)
  await server.call('PUT', '/job/api/jobs/restart', { body: {} })
  const device = await newDevice(server, 'a')
  const [{ jobExecutionId }] = (await server.trigger('restart', ['a'])).json
  await device.startNext()
  const piece = Array.from(
    { length: 1300 },
    (_, index) => `\x1b[32m${index}\x1b[0m what a device writes while it works on something, line after line`,
  ).join('\n')
  let offset = 0
  while (offset < Number(megabytes) * 1024 * 1024 - piece.length) {
    await device.output(jobExecutionId, offset, `${piece}\n`)
    offset += Buffer.byteLength(piece) + 1
  }
  await page.goto(`${server.http}/devices`)
  await watch(page, 'open it, up to its last line', async () => {
    await go(page, `/executions/${jobExecutionId}`)
    await page.getByText(/lines, 9\.|lines, 10\./).waitFor()
  })
  await watch(page, 'scroll through it', () => scroll(page, '.output-rows'))
  await watch(page, 'search in it', async () => {
    await page.getByLabel('Search the output').fill('1299')
    await page.getByText(/^[1-9]\d* lines$/).waitFor()
  })
  await watch(page, 'wrap it', async () => {
    await page.getByRole('button', { name: 'Wrap' }).click()
    await page.evaluate(
      () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))),
    )
  })
})

const changesPerSecond = 500
const watchedSeconds = 15

test('500 changes a second on a slow machine', { timeout: 900_000 }, async (t) => {
  const { server, page } = await openConsole(t)
  await server.call('PUT', '/job/api/jobs/restart', { body: {} })
  const names = Array.from({ length: devicesPerRun }, (_, index) => `d${index}`)
  for (let from = 0; from < names.length; from += 200) {
    const part = names.slice(from, from + 200)
    await Promise.all(part.map((name) => server.call('PUT', `/job/api/devices/${name}`, { body: {} })))
  }
  const large = (await server.trigger('restart', names)).headers.get('location')?.split('/').at(-1)
  const debug = await page.context().newCDPSession(page)
  await debug.send('Emulation.setCPUThrottlingRate', { rate: 4 })
  let requests = 0
  page.on('request', (request) => {
    if (request.url().includes('/job/api/')) requests++
  })
  for (const path of ['/', `/runs/${large}`, '/executions', '/devices']) {
    await go(page, path)
    await page.waitForTimeout(3000)
    requests = 0
    const begun = performance.now()
    const tasks = await tasksDuring(page, () => change(server, names))
    const seconds = (performance.now() - begun) / 1000
    console.log(
      `${path} at ${changesPerSecond} changes a second: ${(requests / seconds).toFixed(1)} requests a second, ` +
        `longest tasks ${tasks.slice(0, 5).join(', ')} ms of CPU, ${tasks.filter((ms) => ms > 100).length} over 100 ms`,
    )
  }
})

/** In CPU time of the page's thread, longest first: other work on this machine does not count. */
async function tasksDuring(page: Page, work: () => Promise<unknown>): Promise<number[]> {
  const browser = await openBrowser()
  await browser.startTracing(page, { categories: ['toplevel', '__metadata'] })
  await work()
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString()) as {
    traceEvents: TraceEvent[]
  }
  const pageThreads = traceEvents
    .filter(({ name, args }) => name === 'thread_name' && args.name === 'CrRendererMain')
    .map(({ pid, tid }) => `${pid} ${tid}`)
  return traceEvents
    .filter(({ pid, tid, tdur }) => tdur !== undefined && pageThreads.includes(`${pid} ${tid}`))
    .map(({ tdur = 0 }) => Math.round(tdur / 1000))
    .sort((a, b) => b - a)
}

type TraceEvent = { name: string; pid: number; tid: number; tdur?: number; args: { name?: string } }

/** Triggers and cancels: each cancel ends all executions of its run. */
async function change(server: OpenServer, names: string[]): Promise<void> {
  for (let second = 0; second < watchedSeconds; second++) {
    const begun = performance.now()
    const from = (second * changesPerSecond) % names.length
    const reply = await server.trigger('restart', names.slice(from, from + changesPerSecond))
    await server.call('POST', `${reply.headers.get('location')}/cancel`)
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, 1000 - (performance.now() - begun))))
  }
}
