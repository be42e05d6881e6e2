// Runs and lists of executions: their progress, actions, and the state in the address.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { type DeviceCalls, newDevice } from '@jobcast/testkit/call-device'
import type { Page } from 'playwright-core'
import { chaosTest, test } from './browser-test.ts'
import { findViolations } from './find-violations.ts'
import { openPage } from './open-browser.ts'
import { go, openOwner, openSignedIn, signIn, typeFirst } from './open-console.ts'

const server = await openOwner()
await server.call('PUT', '/job/api/jobs/restart', { body: {} })
await server.call('PUT', '/job/api/jobs/update', { body: {} })

type Launched = { runId: number; ids: number[]; devices: DeviceCalls[] }

/** A run on devices of its own. */
async function launch(jobName: string, names: string[]): Promise<Launched> {
  const devices = await Promise.all(names.map((name) => newDevice(server, name)))
  const reply = await server.trigger(jobName, names)
  const ids = reply.json.map(({ jobExecutionId }: { jobExecutionId: number }) => jobExecutionId)
  return { runId: Number(reply.headers.get('location')?.split('/').at(-1)), ids, devices }
}

async function end({ ids, devices }: Launched, index: number, status: string, more = {}): Promise<void> {
  await devices[index]?.startNext()
  await devices[index]?.update(ids[index] as number, status, more)
}

const tab = (page: Page, name: string) => page.getByRole('link', { name, exact: true })

test('a failed run is retried: the tabs count while it runs, and both runs are linked', async (t) => {
  const run = await launch('restart', ['a1', 'a2', 'a3'])
  const page = await openSignedIn(t, server, `/runs/${run.runId}`)
  await tab(page, 'Waiting 3').waitFor()
  await end(run, 0, 'SUCCEEDED')
  await end(run, 1, 'FAILED', { statusDetails: { reason: 'disk full' } })
  await end(run, 2, 'REJECTED')
  await page.getByText('1 failed, 1 rejected, 1 succeeded').waitFor()
  await page.getByText(/launched .* by key test, took \d/).waitFor()
  await page.getByRole('table').getByText('disk full').waitFor()
  await page
    .getByRole('img', { name: /1 succeeded, 2 failed, 0 running/ })
    .locator('canvas')
    .waitFor()

  await tab(page, 'Failed 1').click()
  await page.waitForURL(`${server.http}/runs/${run.runId}?execState=FAILED`)
  await page.getByRole('link', { name: 'a1', exact: true }).waitFor({ state: 'detached' })
  await page.getByRole('link', { name: 'a2', exact: true }).waitFor()

  await page.getByRole('button', { name: 'Retry…' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Retry restart on 2 devices' }).click()
  await page.getByText(/a retry of/).waitFor()
  await tab(page, 'Waiting 2').waitFor()
  const retry = Number(page.url().split('/').at(-1))
  await page.getByRole('link', { name: `run ${run.runId}`, exact: true }).click()
  await page.getByRole('link', { name: `run ${retry}`, exact: true }).click()
  await page.waitForURL(`${server.http}/runs/${retry}`)
})

chaosTest(
  'failures of a run are grouped by reason, also while they come in, and open their devices',
  async (t) => {
    const tagged = { deviceName: 'w', tags: ['old'] }
    const run = await launch('restart', ['w1', 'w2', 'w3', 'w4'])
    await end(run, 0, 'FAILED', { statusDetails: { reason: 'disk full' } })
    await end(run, 1, 'FAILED')
    const page = await openSignedIn(t, server, `/runs/${run.runId}`)
    const reasons = page.getByRole('region', { name: 'Why devices failed' }).getByRole('listitem')
    await reasons.filter({ hasText: 'FAILED, without a reason × 1' }).waitFor()
    for (const deviceId of ['w1', 'w2'])
      await server.call('PUT', `/job/api/devices/${deviceId}`, { body: tagged })
    await end(run, 3, 'SUCCEEDED')
    await end(run, 2, 'FAILED', { statusDetails: { reason: 'disk full' } })
    await reasons.filter({ hasText: 'disk full × 2' }).waitFor()
    assert.match((await reasons.first().textContent()) ?? '', /^disk full/)
    await page.getByRole('link', { name: 'tag=old', exact: true }).waitFor()
    await page.getByText('disk full × 2').click()
    await reasons.first().getByRole('link', { name: 'w1' }).click()
    await page.waitForURL(`${server.http}/devices/w1`)
  },
)

chaosTest(
  'a group is created of the devices that failed, or of all devices with the values they have in common',
  async (t) => {
    const run = await launch('restart', ['y1', 'y 2', 'y3'])
    const shared = { body: { deviceName: 'y', tags: ['worn'] } }
    for (const deviceId of ['y1', 'y 2'])
      await server.call('PUT', `/job/api/devices/${encodeURIComponent(deviceId)}`, shared)
    await end(run, 0, 'FAILED')
    await end(run, 1, 'REJECTED')
    await end(run, 2, 'SUCCEEDED')
    // Whether there is one of that name.
    const page = await openSignedIn(t, server, `/runs/${run.runId}`, { expected: [/404/] })
    const dialog = page.getByRole('dialog')
    await page.getByRole('button', { name: 'Make a group of tag=worn' }).click()
    assert.equal(await dialog.getByLabel('Selector').inputValue(), 'tag=worn')
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Make a group of them' }).click()
    assert.deepEqual(await findViolations(page, 'dialog[open]'), [])
    await dialog.getByLabel('Name').fill('worn-out')
    await dialog.getByRole('button', { name: 'Create group' }).click()
    await page.waitForURL(`${server.http}/groups/worn-out`)
    const { where } = (await server.call('GET', '/job/api/groups/worn-out')).json
    assert.match(where, /^deviceId in \((y1, "y 2"|"y 2", y1)\)$/)
  },
)

chaosTest('a retry asks, and leaves out what was canceled on purpose unless it is chosen', async (t) => {
  const run = await launch('restart', ['r1', 'r2', 'r3'])
  await end(run, 0, 'FAILED')
  await server.call('POST', `/job/api/executions/${run.ids[1]}/cancel`)
  await server.call('POST', `/job/api/executions/${run.ids[2]}/cancel`)
  const page = await openSignedIn(t, server, `/runs/${run.runId}`)
  await page.getByText('1 failed, 2 canceled').waitFor()
  await page.getByRole('button', { name: 'Retry…' }).click()
  const dialog = page.getByRole('dialog')
  assert.equal(await dialog.getByLabel('failed').isChecked(), true)
  assert.equal(await dialog.getByLabel('canceled').isChecked(), false)
  await dialog.getByLabel('canceled').check()
  await dialog.getByRole('button', { name: 'Retry restart on 3 devices' }).waitFor()
  await dialog.getByLabel('canceled').uncheck()
  await dialog.getByRole('button', { name: 'Retry restart on 1 device' }).click()
  await page.getByText(/a retry of/).waitFor()
  await page.getByRole('link', { name: 'r1', exact: true }).waitFor()
  assert.equal(await page.getByRole('table').getByRole('link', { name: /^r\d$/ }).count(), 1)
})

test('a run is canceled after a confirmation, and forced when a device does not respond', async (t) => {
  const run = await launch('restart', ['b1', 'b2'])
  await run.devices[0]?.startNext()
  const page = await openSignedIn(t, server, `/runs/${run.runId}`)
  await page.getByRole('button', { name: 'Cancel run' }).click()
  const dialog = page.getByRole('dialog', { name: 'Cancel run' })
  await dialog
    .getByText('Pending executions (1) are canceled immediately; devices are asked to stop running ones (1).')
    .waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Cancel run' }).click()
  await dialog.getByRole('button', { name: 'Cancel run' }).click()
  await page.getByText('1 canceling, 1 canceled').waitFor()
  await page.getByRole('button', { name: 'Force cancel' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Force cancel' }).click()
  await page.getByText('2 canceled', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Force cancel' }).waitFor({ state: 'detached' })
})

chaosTest('the browser reports the end of a run that is watched, also while the tab is hidden', async (t) => {
  const run = await launch('restart', ['n1'])
  const page = await openPage(t)
  // A browser without a window allows none.
  await page.addInitScript(() => {
    const shown: string[] = []
    class Recorded {
      static permission = 'default'
      static requestPermission = async () => 'granted'
      constructor(title: string, options: NotificationOptions) {
        shown.push(`${title}: ${options.body}`)
      }
    }
    Object.assign(window, { shown, Notification: Recorded })
  })
  await signIn(page, server, `/runs/${run.runId}`)
  await page.getByRole('button', { name: 'Notify me', pressed: false }).click()
  await page.getByRole('button', { name: 'Notify me', pressed: true }).waitFor()
  await page.evaluate(() => {
    Object.defineProperty(document, 'visibilityState', { value: 'hidden', configurable: true })
    document.dispatchEvent(new Event('visibilitychange'))
  })
  await end(run, 0, 'FAILED')
  await page.waitForFunction(() => (window as unknown as { shown: string[] }).shown.length > 0)
  assert.deepEqual(await page.evaluate(() => (window as unknown as { shown: string[] }).shown), [
    'restart finished: 1 failed',
  ])
})

chaosTest('a row that leaves the state of its tab leaves the table', async (t) => {
  const run = await launch('restart', ['c1', 'c2'])
  const page = await openSignedIn(t, server, `/runs/${run.runId}?execState=PENDING`)
  await page.getByRole('link', { name: 'c1', exact: true }).waitFor()
  await end(run, 0, 'SUCCEEDED')
  await page.getByRole('link', { name: 'c1', exact: true }).waitFor({ state: 'detached' })
  await end(run, 1, 'SUCCEEDED')
  await page.getByText('None waiting').waitFor()
})

chaosTest('filters of executions stand in the address, over a reload and the way back', async (t) => {
  const run = await launch('update', ['f1', 'f2'])
  await end(run, 0, 'FAILED')
  await end(run, 1, 'SUCCEEDED')
  const page = await openSignedIn(t, server, '/executions')
  const link = (name: string) => page.getByRole('table').getByRole('link', { name, exact: true })
  await link('f1').waitFor()
  await page.getByLabel('Job', { exact: true }).fill('update')
  await page.waitForURL(/jobName=update/)
  const states = page.getByLabel('State:')
  await states.click()
  await page.getByRole('checkbox', { name: 'timed out' }).check()
  await page.getByRole('checkbox', { name: 'failed', exact: true }).check()
  await page.waitForURL(/execState=FAILED%2CTIMED_OUT/)
  await page.getByRole('checkbox', { name: 'timed out' }).uncheck()
  await page.waitForURL(/execState=FAILED$/)
  await page.keyboard.press('Escape')
  await page.getByRole('checkbox', { name: 'timed out' }).waitFor({ state: 'hidden' })
  await page.getByLabel('Run', { exact: true }).fill(String(run.runId))
  await page.keyboard.press('Enter')
  const filtered = `${server.http}/executions?jobName=update&execState=FAILED&runId=${run.runId}`
  await page.waitForURL(filtered)
  await link('f2').waitFor({ state: 'detached' })
  await page.reload()
  await link('f1').waitFor()
  assert.equal(await states.textContent(), 'failed')
  assert.equal(await page.getByLabel('Job', { exact: true }).inputValue(), 'update')
  // A row leads to what its first column names, and the same column to the same kind of page everywhere.
  const hrefOf = (name: string) => page.getByRole('table').getByRole('link', { name }).getAttribute('href')
  assert.equal(await hrefOf('update'), '/jobs/update')
  assert.equal(await hrefOf('f1'), '/devices/f1')
  await page.getByRole('cell', { name: 'failed', exact: true }).click()
  await page.waitForURL(`${server.http}/executions/${run.ids[0]}`)
  await page.goBack()
  await page.waitForURL(filtered)
  await link('f1').waitFor()
  assert.equal(await link('f2').count(), 0)

  await page.getByLabel('Launched after').fill('2001-01-01T00:00')
  await page.getByLabel('Launched before').fill('2001-02-01T00:00')
  await page.getByText('No executions match').waitFor()
  assert.match(page.url(), /launchedAfter=200[01]-[^&]+Z&launchedBefore=2001-/)
  await go(page, '/executions?finishedBefore=2001-02-01T00:00:00Z')
  await page.getByText('No executions match').waitFor()
  await page.getByRole('link', { name: 'Clear filters' }).click()
  await link('f2').waitFor()
})

chaosTest('runs are filtered by job and by whether they have ended, and move while one looks', async (t) => {
  const run = await launch('update', ['g1'])
  const page = await openSignedIn(t, server, '/runs?jobName=update&finished=false')
  const link = page.getByRole('table').getByRole('link', { name: String(run.runId), exact: true })
  await link.waitFor()
  await end(run, 0, 'SUCCEEDED')
  await link.waitFor({ state: 'detached' })
  await page.getByRole('link', { name: 'Finished', exact: true }).click()
  await page.waitForURL(`${server.http}/runs?jobName=update&finished=true`)
  await link.waitFor()
  await page.goBack()
  await page.waitForURL(/finished=false$/)
  await link.waitFor({ state: 'detached' })
})

chaosTest('an export has what the filters let through, as CSV and as JSON', async (t) => {
  const names = Array.from({ length: 250 }, (_, index) => `x${index}`)
  for (const name of names) await server.call('PUT', `/job/api/devices/${name}`, { body: {} })
  const reply = await server.trigger('restart', names)
  const runId = Number(reply.headers.get('location')?.split('/').at(-1))
  const page = await openSignedIn(t, server, `/runs/${runId}?execState=PENDING`)
  const exported = async (kind: string) => {
    const waiting = page.waitForEvent('download')
    await page.getByRole('button', { name: `Export ${kind}` }).click()
    const download = await waiting
    return { name: download.suggestedFilename(), text: readFileSync(await download.path(), 'utf8') }
  }
  const csv = await exported('CSV')
  const lines = csv.text.trimEnd().split('\r\n')
  assert.equal(csv.name, `run-${runId}.csv`)
  assert.match(lines[0] ?? '', /^jobExecutionId,runId,jobName,deviceId,/)
  assert.match(lines[1] ?? '', new RegExp(`^\\d+,${runId},restart,x249,x249,PENDING,1,`))
  assert.equal(lines.length, 251)
  const json = JSON.parse((await exported('JSON')).text)
  assert.deepEqual(
    json.map(({ deviceId }: { deviceId: string }) => deviceId),
    names.toReversed(),
  )
  assert.deepEqual(json[0], (await server.call('GET', `/job/api/executions/${json[0].jobExecutionId}`)).json)
})

chaosTest('what is not there says where to go', async (t) => {
  const page = await openSignedIn(t, server, '/runs/987654', { expected: [/404/] })
  await page.getByText('Run not found').waitFor()
  await page.goto(`${server.http}/executions/987654`)
  await page.getByText('Execution not found').waitFor()
  await page.getByRole('link', { name: 'Show all executions' }).click()
  await page.waitForURL(`${server.http}/executions`)
})

chaosTest('a filter of a link that cannot be applied is reported', async (t) => {
  const page = await openSignedIn(t, server, '/executions?execState=BROKEN&runId=x')
  await page.getByRole('alert').getByText('execState=BROKEN, runId=x').waitFor()
  await go(page, '/executions?execState=FAILED')
  await page.getByRole('alert').waitFor({ state: 'detached' })
  // The filters under a name, which the palette finds as well.
  await page.getByRole('button', { name: 'Save view' }).click()
  await typeFirst(page, 'what failed')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Remove view what failed' }).waitFor()
  await go(page, '/executions')
  await page.getByRole('link', { name: 'what failed' }).click()
  await page.waitForURL(/execState=FAILED$/)
  await go(page, '/jobs')
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Search everything' }).and(page.locator(':focus')).waitFor()
  await page.keyboard.type('what fai')
  await page.getByRole('option', { name: /^what failed/, selected: true }).click()
  await page.waitForURL(/executions\?execState=FAILED$/)
  await page.getByRole('button', { name: 'Remove view what failed' }).click()
  await page.getByRole('link', { name: 'what failed' }).waitFor({ state: 'detached' })
})

chaosTest('selected executions are canceled or retried together, and those of a filter only', async (t) => {
  const run = await launch('restart', ['k1', 'k2', 'k3', 'k4'])
  await end(run, 0, 'FAILED')
  const page = await openSignedIn(t, server, `/executions?runId=${run.runId}`)
  for (const id of run.ids.slice(0, 3)) await page.getByLabel(`Select ${id}`, { exact: true }).check()
  await page.getByRole('button', { name: 'Cancel 2' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel 2 executions' }).click()
  const states = async () => {
    const replies = await Promise.all(run.ids.map((id) => server.call('GET', `/job/api/executions/${id}`)))
    return replies.map(({ json }) => json.execState)
  }
  await page.getByText('canceled', { exact: true }).filter({ visible: true }).nth(1).waitFor()
  assert.deepEqual(await states(), ['FAILED', 'CANCELED', 'CANCELED', 'PENDING'])

  for (const id of run.ids.slice(0, 2)) await page.getByLabel(`Select ${id}`, { exact: true }).check()
  await page.getByRole('button', { name: 'Retry 2' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Retry 2' }).click()
  await page.waitForURL(/\/runs\/\d+$/)
  await page.getByText(/a retry of/).waitFor()
  const retried = page.getByRole('table').getByRole('link', { name: /^k\d$/ })
  await retried.nth(1).waitFor()
  assert.deepEqual((await retried.allTextContents()).toSorted(), ['k1', 'k2'])
})
