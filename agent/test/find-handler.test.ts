import assert from 'node:assert/strict'
import { chmodSync, lchownSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '@jobcast/testkit/temporary-folder'
import { findHandler } from '../src/find-handler.ts'

test('a handler is an executable file in the folder; why another is none is said', async (t) => {
  const folder = temporaryFolder(t)
  const add = (name: string, content: string, mode: number) => {
    writeFileSync(join(folder, name), content)
    chmodSync(join(folder, name), mode)
  }
  add('good', '#!/bin/sh\n', 0o755)
  add('plain', '#!/bin/sh\n', 0o644)
  add('open', '#!/bin/sh\n', 0o757)
  add('windows', '#!/bin/sh\r\necho\r\n', 0o755)
  mkdirSync(join(folder, 'folder'))
  symlinkSync('/bin/sh', join(folder, 'linked'))
  symlinkSync('/no/such/file', join(folder, 'dangling'))

  assert.deepEqual(await findHandler(folder, 'good'), { path: join(folder, 'good') })
  assert.deepEqual(await findHandler(folder, 'linked'), { path: join(folder, 'linked') })
  const refused = async (name: string) => {
    const found = await findHandler(folder, name)
    return 'refusal' in found ? found.refusal : ''
  }
  assert.match(await refused('none'), /^there is no handler "none" on this device$/)
  assert.match(await refused('dangling'), /there is no handler/)
  assert.match(await refused('plain'), /is not executable/)
  assert.match(await refused('open'), /can be written by everyone/)
  assert.match(await refused('windows'), /ends in CR LF/)
  assert.match(await refused('folder'), /is not a file/)
})

test('a link that is not of the owner of the folder is refused', {
  skip: process.getuid?.() === 0 ? false : 'only root can make one',
}, async (t) => {
  const folder = temporaryFolder(t)
  symlinkSync('/bin/sh', join(folder, 'planted'))
  lchownSync(join(folder, 'planted'), 12_345, 12_345)
  const found = await findHandler(folder, 'planted')
  assert.match('refusal' in found ? found.refusal : '', /is a link that neither root nor the owner/)
})
