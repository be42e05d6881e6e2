// One execution: its timeline, its output, and actions.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { type DeviceCalls, newDevice } from '@jobcast/testkit/call-device'
import { openServer } from '@jobcast/testkit/open-server'
import { waitUntil } from '@jobcast/testkit/wait-until'
import { chaosTest, test } from './browser-test.ts'
import { go, openOwner, openOwnServer, openSignedIn, waitUntilLive } from './open-console.ts'

const server = await openOwner()
await server.call('PUT', '/job/api/jobs/collect', { body: { document: { handler: 'collect', level: 3 } } })

async function launch(name: string): Promise<{ device: DeviceCalls; id: number }> {
  const device = await newDevice(server, name)
  const [{ jobExecutionId }] = (await server.trigger('collect', [name])).json
  return { device, id: jobExecutionId }
}

chaosTest('a wait is explained: the device was offline, then busy with another execution', async (t) => {
  const { device, id: first } = await launch('late')
  const [{ jobExecutionId: id }] = (await server.trigger('collect', ['late'])).json
  const page = await openSignedIn(t, server, `/executions/${id}`)
  const timeline = page.getByRole('region', { name: 'Timeline' })
  await timeline.getByText(/^has waited .*: device offline$/).waitFor()
  await device.startNext()
  await timeline.getByText(`behind execution ${first}`).waitFor()
  await device.update(first, 'SUCCEEDED')
  await device.startNext()
  await timeline.getByText(/^has run/).waitFor()
  await device.update(id, 'SUCCEEDED', { statusDetails: { exitCode: '0' } })
  await timeline.getByText('Succeeded').waitFor()
  // After a reload the same data is read from the log.
  await page.reload()
  await timeline.getByText(/^waited .*: device offline$/).waitFor()
  await timeline.getByText(/^ran /).waitFor()
  const sent = page.getByRole('region', { name: 'Document for this device' })
  assert.deepEqual(JSON.parse((await sent.textContent()) ?? ''), { handler: 'collect', level: 3 })
  assert.equal(await page.getByRole('region', { name: 'All state changes' }).getByRole('row').count(), 4)
})

chaosTest('how long a running execution takes counts up, in the list and on its page', async (t) => {
  const { device, id } = await launch('runner')
  await device.startNext()
  const page = await openSignedIn(t, server, '/executions')
  const row = page.getByRole('row').filter({ has: page.getByRole('link', { name: String(id), exact: true }) })
  const counted = async (text: () => Promise<string | null>) => {
    const first = await text()
    await waitUntil('it counts up', async () => (await text()) !== first)
  }
  const took = row.getByRole('cell', { name: /^\d+ s$/ })
  await counted(() => took.first().textContent())
  await go(page, `/executions/${id}`)
  const hasRun = page.getByRole('region', { name: 'Timeline' }).getByText(/^has run/)
  await counted(() => hasRun.textContent())
  await device.update(id, 'SUCCEEDED')
})

test('output is shown in colours and never as markup, while it is written', async (t) => {
  const { device, id } = await launch('painter')
  const page = await openSignedIn(t, server, `/executions/${id}`)
  await page.getByText('Not started yet').waitFor()
  await device.startNext()
  const markup = '<script>window.ran = true</script><img src=x onerror="window.ran = true">'
  const text = `\x1b[1;31mERROR\x1b[0m ${markup}\n\x1b]8;;javascript:alert(1)\x07link\x1b]8;;\x07\n`
  await device.output(id, 0, text)
  const log = page.getByRole('log')
  await log.getByText(markup).waitFor()
  assert.equal(await log.locator('.ansi-fg-1.ansi-bold').textContent(), 'ERROR')
  assert.equal(await log.locator('script, img, a').count(), 0)
  assert.equal(await page.evaluate(() => 'ran' in window), false)
  const lines = Array.from(
    { length: 3000 },
    (_, index) => `line ${index}${index % 1000 === 7 ? ' here' : ''}\n`,
  )
  await device.output(id, Buffer.byteLength(text), lines.join(''))
  // It follows the end.
  await log.getByText('line 2999', { exact: true }).waitFor()
  assert.ok((await log.locator('.output-row').count()) < 200, 'only what is in sight is drawn')

  await page.keyboard.press('/')
  await page.keyboard.type('HERE')
  await page.getByText('3 lines', { exact: true }).waitFor()
  await page.keyboard.press('Enter')
  await log.locator('.output-row.current').getByText('line 7 here').waitFor()
  assert.equal(await log.locator('.current mark').textContent(), 'here')
  await page.keyboard.press('Shift+Enter')
  await log.locator('.output-row.current').getByText('line 2007 here').waitFor()
  await page.getByText('3 of 3 lines').waitFor()
  // After scrolling up, the view does not move until the user returns to the end.
  await page.getByRole('button', { name: 'Follow', pressed: false }).waitFor()
  await log.focus()
  await page.keyboard.press('End')
  await page.getByRole('button', { name: 'Follow', pressed: true }).waitFor()

  const waiting = page.waitForEvent('download')
  await page.getByRole('link', { name: 'Download' }).click()
  const download = await waiting
  assert.equal(readFileSync(await download.path(), 'utf8'), text + lines.join(''))
  assert.equal(download.suggestedFilename(), `execution-${id}.log`)

  // The output of a whole run is searched from its page, and a line has a link.
  await page.getByRole('link', { name: /^run \d+$/ }).click()
  await page.getByLabel('Search the output of this run').fill('LINE 2007 h')
  await page.keyboard.press('Enter')
  await page.getByText('1 line found').waitFor()
  await page.getByRole('link', { name: 'painter:2010' }).click()
  await page.waitForURL(`${server.http}/executions/${id}?attempt=1&line=2010`)
  await log.locator('.output-row.current').getByText('line 2007 here').waitFor()
  await log.locator('[data-number="2011"]').click()
  await page.waitForURL(/line=2011/)
  await log.locator('.output-row.current').getByText('line 2008').waitFor()
})

chaosTest('long lines are wrapped when that is wanted', async (t) => {
  const { device, id } = await launch('wordy')
  await device.startNext()
  await device.output(id, 0, `${'word '.repeat(200)}end\n`)
  const page = await openSignedIn(t, server, `/executions/${id}`, { viewport: { width: 390, height: 844 } })
  const log = page.getByRole('log')
  await log.getByText(/word/).first().waitFor()
  assert.equal(await log.locator('.output-row').count(), 1)
  await page.getByRole('button', { name: 'Wrap' }).click()
  await log.locator('.output-row').nth(5).waitFor()
  const fits = await log.evaluate((element) => element.scrollWidth <= element.clientWidth)
  assert.ok(fits, 'nothing stands outside')
  assert.equal((await log.textContent())?.replaceAll(/\s/g, ''), `${'word'.repeat(200)}end`)
})

chaosTest('an execution is canceled, forced, and retried', async (t) => {
  const { device, id } = await launch('stubborn')
  await device.startNext()
  const page = await openSignedIn(t, server, `/executions/${id}`)
  const head = page.locator('.page-header')
  await head.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel execution' }).click()
  await head.getByText('canceling').waitFor()
  await head.getByRole('button', { name: 'Force cancel' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Force cancel' }).click()
  await head.getByText('canceled').waitFor()
  await head.getByRole('button', { name: 'Retry' }).click()
  await page.getByText('a retry of').waitFor()
  await page.getByRole('link', { name: 'Waiting 1' }).waitFor()
})

chaosTest('each attempt has its own output, and the newest is shown', async (t) => {
  await server.call('PUT', '/job/api/jobs/again', { body: { retry: { max: 1, backoffSeconds: 0 } } })
  const device = await newDevice(server, 'second-try')
  const [{ jobExecutionId: id }] = (await server.trigger('again', ['second-try'])).json
  await device.startNext()
  await device.output(id, 0, 'first words\n')
  const page = await openSignedIn(t, server, `/executions/${id}`)
  await page.getByText('first words').waitFor()
  await device.update(id, 'FAILED', { statusDetails: { reason: 'no paper' } })
  await page.getByText('Attempt 1 failed, attempt 2 follows: no paper').waitFor()
  await device.call('GET', '?wait=30') // until the second attempt is offered
  await device.startNext()
  await device.output(id, 0, 'second words\n')
  await page.getByText('second words').waitFor()
  await page.getByLabel('Attempt', { exact: true }).selectOption('1')
  await page.getByText('first words').waitFor()
})

chaosTest(
  'the reason of a failure is beside the state, and the key that triggered has its name',
  async (t) => {
    const { device, id } = await launch('reasoned')
    await device.startNext()
    await device.update(id, 'FAILED', { statusDetails: { reason: 'disk full' } })
    const page = await openSignedIn(t, server, `/executions/${id}`)
    await page.locator('.page-header').getByText('disk full').waitFor()
    await page.getByRole('region', { name: 'Timeline' }).getByText('Triggered, by key test').waitFor()
  },
)

chaosTest('nothing is asked for output before the device has started', async (t) => {
  const { device, id } = await launch('not-yet')
  let asked = 0
  const page = await openSignedIn(t, server, '/executions')
  page.on('request', (request) => {
    if (request.url().includes(`/executions/${id}/output`)) asked++
  })
  await go(page, `/executions/${id}`)
  await page.getByText('Not started yet').waitFor()
  await page
    .getByRole('region', { name: 'Timeline' })
    .getByText(/device offline$/)
    .waitFor()
  assert.equal(asked, 0)
  await device.startNext()
  await device.output(id, 0, 'hello\n')
  await page.getByText('hello').waitFor()
  assert.ok(asked > 0)
})

chaosTest('the page continues after a restart of the server, and its output misses nothing', async (t) => {
  const own = await openOwnServer(t)
  await own.call('PUT', '/job/api/jobs/collect', { body: {} })
  const device = await newDevice(own, 'survivor')
  const [{ jobExecutionId: id }] = (await own.trigger('collect', ['survivor'])).json
  await device.startNext()
  await device.output(id, 0, 'before\n')
  const page = await openSignedIn(t, own, `/executions/${id}`, { expected: [/ERR_|Failed to load/] })
  await page.getByText('before').waitFor()
  const { port } = new URL(own.http)
  await own.server.stop()
  await page.locator('.connection.reconnecting').waitFor()
  await openServer(t, { dataFolder: own.folder, port: Number(port) })
  await device.output(id, 7, 'after\n')
  await device.update(id, 'SUCCEEDED')
  await page.locator('.page-header').getByText('succeeded').waitFor()
  await page.getByText('after').waitFor()
  await waitUntilLive(page)
})
