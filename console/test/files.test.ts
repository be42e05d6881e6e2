// Files and secrets: what jobs give to devices.

import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { test as unitTest } from 'node:test'
import { guessFileName } from '../src/screens/files/guess-file-name.ts'
import { test } from './browser-test.ts'
import { findViolations } from './find-violations.ts'
import { openOwner, openSignedIn } from './open-console.ts'

const server = await openOwner()
const put = (path: string, body: object) => server.call('PUT', `/job/api/${path}`, { body })

test('a file is uploaded, used, downloaded, and deleted when nothing uses it', async (t) => {
  const page = await openSignedIn(t, server, '/files', { expected: [/409/] })
  await page.getByText('No files yet').waitFor()
  await page.getByRole('button', { name: 'Upload a file' }).click()
  const dialog = page.getByRole('dialog')
  const content = randomBytes(300_000)
  const file = { name: 'app-1.4.bin', mimeType: 'application/octet-stream', buffer: content }
  await dialog.getByLabel('File', { exact: true }).setInputFiles(file)
  assert.equal(await dialog.getByLabel('Name').inputValue(), 'app')
  assert.equal(await dialog.getByLabel('Version').inputValue(), '1.4')
  assert.deepEqual(await findViolations(page, 'dialog[open]'), [])
  await dialog.getByRole('button', { name: 'Upload' }).click()
  await page.getByRole('row').filter({ hasText: '293.0 KB' }).waitFor()

  // Another content of the same version is refused, and the dialog stays.
  await page.getByRole('link', { name: 'app', exact: true }).click()
  await page.getByRole('button', { name: 'Upload a version' }).click()
  const other = { ...file, buffer: randomBytes(10) }
  await dialog.getByLabel('File', { exact: true }).setInputFiles(other)
  await dialog.getByRole('button', { name: 'Upload' }).click()
  await dialog.getByRole('alert').getByText('J-320').waitFor()
  await dialog.getByLabel('Version').fill('1.5')
  await dialog.getByRole('button', { name: 'Upload' }).click()
  const rowOf = (version: string) => page.getByRole('row').filter({ hasText: version })
  await rowOf('1.5').getByText('newest').waitFor()

  await put('jobs/install', { document: { handler: 'install', files: ['app@1.4'] } })
  await page.reload()
  await rowOf('1.4').getByRole('link', { name: 'install' }).waitFor()
  const downloading = page.waitForEvent('download')
  await rowOf('1.4').getByRole('link', { name: 'Download' }).click()
  const download = await downloading
  const hashOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')
  assert.equal(hashOf(await readFile(await download.path())), hashOf(content))

  const deleteVersion = async (version: string) => {
    await rowOf(version).getByRole('button', { name: 'Delete' }).click()
    await dialog.getByRole('button', { name: 'Delete', exact: true }).click()
  }
  await deleteVersion('1.4')
  await dialog.getByRole('alert').getByText('J-315').waitFor()
  await page.keyboard.press('Escape')
  await deleteVersion('1.5')
  await rowOf('1.5').waitFor({ state: 'detached' })
  assert.deepEqual(await findViolations(page, 'main'), [])
})

test('a secret is created, replaced and deleted, and its value is never shown', async (t) => {
  const page = await openSignedIn(t, server, '/secrets', { expected: [/409/] })
  const dialog = page.getByRole('dialog')
  await page.getByRole('button', { name: 'New secret' }).click()
  await dialog.getByLabel('Name').fill('UPLOAD_TOKEN')
  await dialog.getByLabel('Value').fill('first-value')
  await dialog.getByRole('button', { name: 'Create secret' }).click()
  const row = page.getByRole('row').filter({ hasText: 'UPLOAD_TOKEN' })
  await row.getByRole('button', { name: 'Replace' }).click()
  await dialog.getByLabel('Value').fill('second-value')
  await dialog.getByRole('button', { name: 'Replace' }).click()
  await dialog.waitFor({ state: 'detached' })
  assert.doesNotMatch(await page.content(), /(first|second)-value/)

  await put('jobs/send', { document: { handler: 'send', token: '${secrets.UPLOAD_TOKEN}' } })
  await row.getByRole('button', { name: 'Delete' }).click()
  await dialog.getByRole('button', { name: 'Delete', exact: true }).click()
  await dialog.getByRole('alert').getByText('J-315').waitFor()
  await server.call('DELETE', '/job/api/jobs/send')
  await dialog.getByRole('button', { name: 'Delete', exact: true }).click()
  await row.waitFor({ state: 'detached' })
})

unitTest('the name and the version of a file are guessed from its name on the disk', () => {
  for (const [diskName, fileName, version] of [
    ['app-1.4.bin', 'app', '1.4'],
    ['my app_v2.0.1-rc1.tar.gz', 'my-app', '2.0.1-rc1'],
    ['firmware.swu', 'firmware', ''],
    ['kiosk-image', 'kiosk-image', ''],
    ['.profile', '-profile', ''],
  ] as const) {
    assert.deepEqual(guessFileName(diskName), { fileName, version }, diskName)
  }
})
