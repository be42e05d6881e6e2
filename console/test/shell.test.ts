import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { newDevice } from '@jobcast/testkit/call-device'
import { openServer } from '@jobcast/testkit/open-server'
import { seededRandom } from '@jobcast/testkit/seeded-random'
import { testSeed } from '@jobcast/testkit/test-seed'
import { isChaos } from '@jobcast/testkit/test-size'
import { buildConsoleIfStale, builtFolder } from '../build.ts'
import { routes } from '../src/routes.ts'
import { chaosTest, test } from './browser-test.ts'
import { countLoaded } from './count-loaded.ts'
import { findViolations } from './find-violations.ts'
import { openPage } from './open-browser.ts'
import {
  go,
  openConsole,
  openOwner,
  openOwnServer,
  openSharedServer,
  openSignedIn,
  openWithKey,
  signIn,
  waitUntilLive,
} from './open-console.ts'

chaosTest(
  'the page reconnects automatically after a restart of the server, and misses nothing',
  async (t) => {
    const server = await openOwnServer(t)
    const page = await openSignedIn(t, server, '/', { expected: [/ERR_|Failed to load/] })
    await server.call('PUT', '/job/api/jobs/restart', { body: {} })
    await newDevice(server, 'a')
    await page.getByText('1 never ran').waitFor()
    const { port } = new URL(server.http)
    await server.server.stop()
    await page
      .locator('.connection.reconnecting')
      .getByText(/as of \d\d:\d\d/)
      .waitFor()
    const again = await openServer(t, { dataFolder: server.folder, port: Number(port) })
    await again.trigger('restart', ['a'])
    await page.getByText('restart on 1 device').waitFor()
    await waitUntilLive(page)
    await page.getByRole('button', { name: '1 waiting' }).waitFor()
  },
)

/** `npm test` loads one of them, and opens the others on the page that is loaded. */
test('every screen opens at its own address', async (t) => {
  const { server, page } = await openConsole(t, { expected: [/404/] }) // there is nothing with the name 1
  const addresses = routes.map(({ path }) => server.http + path.replaceAll(/:\w+/g, '1'))
  const sent = await Promise.all(addresses.map(async (address) => (await fetch(address)).text()))
  assert.equal(new Set(sent).size, 1)
  const loaded = seededRandom(testSeed).below(routes.length)
  for (const [index, address] of addresses.entries()) {
    if (isChaos || index === loaded) await page.goto(address)
    else await go(page, address)
    await page.waitForURL(address)
    await page.locator('main h1').waitFor()
  }
})

chaosTest('light and dark follow the system, until one is chosen, which is kept', async (t) => {
  const server = await openSharedServer()
  const page = await openWithKey(t, server, server.adminKey, { colorScheme: 'dark' })
  const scheme = () => page.evaluate(() => getComputedStyle(document.documentElement).colorScheme)
  const ground = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor)
  assert.equal(await scheme(), 'dark')
  const dark = await ground()
  await page.emulateMedia({ colorScheme: 'light' })
  assert.equal(await scheme(), 'light')
  assert.notEqual(await ground(), dark)
  await page.getByRole('radio', { name: 'dark theme' }).check({ force: true })
  assert.equal(await scheme(), 'dark')
  await page.reload()
  await waitUntilLive(page)
  assert.deepEqual([await scheme(), await ground()], ['dark', dark])
})

chaosTest('screens are reached by keys alone, and ? shows which', async (t) => {
  const { server, page } = await openConsole(t)
  await page.keyboard.press('Tab')
  await page.getByRole('link', { name: 'Skip to content' }).filter({ visible: true }).waitFor()
  await page.keyboard.press('Enter')
  assert.equal(await page.evaluate(() => document.activeElement?.id), 'main')
  await page.keyboard.press('g')
  await page.keyboard.press('r')
  await page.waitForURL(`${server.http}/runs`)
  // The new screen is announced, and the next Tab is in it.
  await page
    .getByRole('status')
    .filter({ hasText: /^Runs$/ })
    .waitFor({ state: 'attached' })
  assert.equal(await page.evaluate(() => document.activeElement?.id), 'main')
  const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8'))
  await page.getByText(`Jobcast ${version}`, { exact: true }).waitFor()
  assert.equal(await page.getByRole('link', { name: 'API docs' }).getAttribute('href'), '/docs')
  await page.keyboard.press('?')
  const help = page.getByRole('dialog', { name: 'Shortcuts' })
  await help.waitFor()
  await page.keyboard.press('Escape')
  await help.waitFor({ state: 'hidden' })
})

test('the policy of the page allows nothing inline and nothing from other origins', async (t) => {
  const server = await openSharedServer()
  const answer = await fetch(server.http)
  const policy = answer.headers.get('content-security-policy') ?? ''
  assert.match(policy, /default-src 'none'/)
  assert.doesNotMatch(policy, /unsafe|https?:|\*/)
  const page = await openPage(t, { expected: [/policy violated|Content Security Policy|violates/] })
  await page.goto(server.http)
  const ran = await page.evaluate(() => {
    const script = document.createElement('script')
    script.textContent = 'window.ranInline = true'
    document.body.append(script)
    return 'ranInline' in window
  })
  assert.equal(ran, false)
})

test('files with a hash in their name are cached forever, the page itself is revalidated', async () => {
  const server = await openSharedServer()
  const page = await fetch(server.http)
  assert.equal(page.headers.get('cache-control'), 'no-cache')
  const etag = page.headers.get('etag') ?? ''
  assert.equal((await fetch(server.http, { headers: { 'if-none-match': etag } })).status, 304)
  const [, script = ''] = /src="([^"]+\.js)"/.exec(await page.text()) ?? []
  const asset = await fetch(server.http + script)
  assert.equal(asset.headers.get('cache-control'), 'public, max-age=31536000, immutable')
  assert.equal(asset.headers.get('content-encoding'), 'gzip')
  assert.equal((await fetch(`${server.http}/assets/nothing.js`)).status, 404)
  assert.equal((await fetch(`${server.http}/assets/..%2findex.html`)).status, 404)
})

/** Gzipped, as the server sends it. */
const [bytesAtMost, filesAtMost] = [60 * 1024, 20]

test('the first load of a screen is at most 60 KB of scripts and styles, in at most 20 files', async (t) => {
  const server = await openOwner()
  const parameters = { type: 'object', properties: { version: { type: 'string', default: '2.11' } } }
  await server.call('PUT', '/job/api/jobs/restart', { body: {} })
  const [first] = await Promise.all(['a', 'b'].map((name) => newDevice(server, name)))
  const document = { version: '${params.version}' }
  await server.call('PUT', '/job/api/jobs/update', { body: { document, parameters } })
  const when = { cron: '0 3 * * *', timeZone: 'UTC' }
  const schedule = { jobName: 'update', targets: { where: 'all' }, when }
  await server.call('PUT', '/job/api/schedules/nightly', { body: schedule })
  const page = await openPage(t)
  const check = async (path: string, shown: string) => {
    const { loaded, stop } = countLoaded(page)
    await page.goto(server.http + path)
    for (const part of shown.split(', ')) await page.locator(part).first().waitFor()
    stop()
    const { bytes, files } = loaded
    t.diagnostic(`${path}: ${(bytes / 1024).toFixed(1)} KB in ${files} files`)
    assert.ok(bytes > 0 && bytes <= bytesAtMost, `${path}: ${bytes} bytes`)
    assert.ok(files <= filesAtMost, `${path}: ${files} files`)
  }
  await signIn(page, server, '/keys')
  await check('/', '.figure')
  await check('/trigger', '.summary')
  await check('/jobs/update', '.rollout-editor')
  await check('/schedules/nightly', '.delivery')
  const { headers, json } = await server.trigger('restart', ['b'])
  const runId = headers.get('location')?.split('/').at(-1)
  await check(`/executions/${json[0].jobExecutionId}`, '.timeline')
  await server.call('POST', `/job/api/runs/${runId}/cancel`) // one that nothing has begun of has no chart
  await check(`/runs/${runId}`, '.time-chart canvas')
  await page.locator('.time-chart canvas').hover()
  await page.locator('.chart-legend', { hasText: /succeeded \d/ }).waitFor()
  // A rollout that a stop rule has paused: the page with the most parts.
  const rollout = { order: 'GIVEN', waves: [{ size: 1 }, { size: 1 }], stop: [{ on: ['FAILED'], count: 1 }] }
  const body = { jobName: 'update', targets: { deviceIds: ['a', 'b'] }, rollout }
  const paused = (await server.call('POST', '/job/api/runs', { body })).json.runId
  const started = await first?.startNext()
  await first?.update(Number(started?.json.execution.jobId), 'FAILED')
  await check(`/runs/${paused}`, '.time-chart canvas, .lane, .reasons, .rollout-causes, #run-parameters')
})

test('the build loads nothing from other origins', async () => {
  await buildConsoleIfStale()
  const assets = join(builtFolder, 'assets')
  for (const name of readdirSync(assets).filter((each) => /\.(js|css)$/.test(each))) {
    assert.doesNotMatch(readFileSync(join(assets, name), 'utf8'), /(?:import|url)\s*\(?\s*["']?https?:/, name)
  }
})

chaosTest('a screen that could not be loaded appears automatically when the server is back', async (t) => {
  const { page } = await openConsole(t, { path: '/', expected: [/ERR_|Failed to (load|fetch)|preload/] })
  await page.route(/\/assets\/|\/$/, (route) => route.abort('connectionrefused'))
  await page.getByRole('link', { name: 'Webhooks' }).click()
  await page.getByText('This screen could not be loaded.').waitFor()
  await page.unrouteAll()
  await page.getByText('No webhooks yet').waitFor()
})

chaosTest('a name that is long or written from right to left does not overlap other elements', async (t) => {
  const server = await openOwner()
  const ids = ['x'.repeat(128), 'left\u202eright']
  await server.call('PUT', '/job/api/jobs/restart', { body: {} })
  for (const deviceId of ids) {
    await server.call('PUT', `/job/api/devices/${encodeURIComponent(deviceId)}`, {
      body: { tags: ['y'.repeat(128)] },
    })
  }
  const reply = await server.trigger('restart', ids)
  const screens = [
    '/',
    '/devices',
    `/runs/${reply.headers.get('location')?.split('/').at(-1)}`,
    `/trigger?jobName=restart&${ids.map((id) => `deviceId=${encodeURIComponent(id)}`).join('&')}`,
    ...ids.map((id) => `/devices/${encodeURIComponent(id)}`),
    ...reply.json.map(({ jobExecutionId }: { jobExecutionId: number }) => `/executions/${jobExecutionId}`),
  ]
  const page = await openSignedIn(t, server, '/keys', { viewport: { width: 390, height: 844 } })
  for (const path of screens) {
    await go(page, path)
    await page
      .locator('main')
      .getByText(/x{128}|left/)
      .first()
      .waitFor({ state: 'attached' })
    const found = await page.evaluate(() => {
      const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
      const turned: string[] = []
      for (let text = texts.nextNode(); text; text = texts.nextNode()) {
        const parent = text.parentElement as HTMLElement
        const isIsolated = /isolate|plaintext/.test(getComputedStyle(parent).unicodeBidi)
        const isBlock = !/inline/.test(getComputedStyle(parent).display)
        const isAlone = isBlock && parent.childNodes.length === 1
        const isShown = parent.checkVisibility()
        if (text.textContent?.includes('\u202e') && isShown && !isIsolated && !isAlone)
          turned.push(parent.outerHTML)
      }
      return { turned, excess: document.documentElement.scrollWidth - innerWidth }
    })
    assert.deepEqual(found, { turned: [], excess: 0 }, path)
  }
})

test('Ctrl-K finds screens, named resources, numbers and actions, by keyboard alone', async (t) => {
  const { server, page } = await openConsole(t)
  await server.putJobAndDevices('restart-kiosk', ['kiosk-7', 'gate-1'])
  const search = page.getByRole('combobox', { name: 'Search everything' })
  const find = async (text: string, option: RegExp, path: RegExp) => {
    await page.keyboard.press('Control+k')
    await search.and(page.locator(':focus')).waitFor()
    await page.keyboard.type(text)
    await page.getByRole('option', { name: option, selected: true }).waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL(path)
    await search.waitFor({ state: 'detached' })
  }
  await find('kio7', /^kiosk-7/, /\/devices\/kiosk-7$/)
  await find('restart-k', /^restart-kiosk/, /\/jobs\/restart-kiosk$/)
  await find('trigger rest', /^Trigger restart-kiosk/, /\/trigger\?jobName=restart-kiosk$/)
  await find('webh', /^Webhooks/, /\/webhooks$/)
  const put = (path: string, body: object) => server.call('PUT', `/job/api/${path}`, { body })
  await put('devices/x-0815', { deviceName: 'Till North', tags: ['till'] })
  await put('groups/tills', { where: 'tag=till' })
  const when = { cron: '0 3 * * *', timeZone: 'UTC' }
  await put('schedules/nightly', { jobName: 'restart-kiosk', targets: { group: 'tills' }, when })
  await put('windows/mornings', { cron: '0 6 * * *', durationMinutes: 60 })
  await find('till nor', /^x-0815 Till North/, /\/devices\/x-0815$/)
  await find('group tills', /^Trigger a job on group tills/, /\/trigger\?where=group%3D%22tills%22$/)
  await find('pause nightly', /^Pause nightly/, /\/schedules\/nightly$/)
  await page.getByRole('button', { name: 'Resume' }).waitFor()
  assert.equal((await server.call('GET', '/job/api/schedules/nightly')).json.paused, true)
  await find('mornings', /^mornings/, /\/windows\/mornings$/)
  await find('tag=till and not online', /^Devices that match tag=till/, /\/devices\?where=tag%3Dtill/)
  await page.keyboard.press('Control+k')
  await search.and(page.locator(':focus')).waitFor()
  await page.keyboard.type('12')
  await page.getByRole('option', { name: /^Run 12/, selected: true }).waitFor()
  assert.deepEqual(await findViolations(page, 'dialog[open]'), [])
  await page.keyboard.press('Escape')
  await search.waitFor({ state: 'detached' })
})
