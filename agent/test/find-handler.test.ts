import assert from 'node:assert/strict'
import { chmodSync, chownSync, lchownSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '@jobcast/testkit/temporary-folder'
import { checkHandlers } from '../src/handler/check-handlers.ts'
import { findHandler } from '../src/handler/find-handler.ts'

test('a handler is an executable file in the folder; for other files the reason is reported', async (t) => {
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
  assert.match(
    'refusal' in found ? found.refusal : '',
    /is a symbolic link that was created by neither root nor the owner/,
  )
})

test('a world-writable folder of handlers is refused; one writable by a group or the user of the agent causes a warning', async (t) => {
  const folder = join(temporaryFolder(t), 'handlers')
  mkdirSync(folder)
  writeFileSync(join(folder, 'one'), '#!/bin/sh\n')
  const [user, other] = [12_345, 54_321]
  const isRoot = process.getuid?.() === 0
  const own = isRoot ? user : (process.getuid?.() ?? 0)
  if (isRoot) for (const path of [folder, join(folder, 'one')]) chownSync(path, user, user)
  const set = (ofFolder: number, ofFile: number) => {
    chmodSync(join(folder, 'one'), ofFile)
    chmodSync(folder, ofFolder)
  }
  set(0o755, 0o755)
  assert.deepEqual(await checkHandlers(folder, other), [])
  const ofUser = await checkHandlers(folder, own)
  assert.equal(ofUser.length, 1)
  assert.match(
    ofUser[0] ?? '',
    /own user can write to .*handlers, one, and so can every handler: let root own it/,
  )
  assert.deepEqual(await checkHandlers(folder, 0), [])
  set(0o755, 0o775)
  assert.deepEqual(await checkHandlers(folder, other), ['a group can write to one: chmod g-w'])
  set(0o757, 0o755)
  await assert.rejects(checkHandlers(folder, other), /Everyone can write to the folder of handlers/)
  await assert.rejects(checkHandlers(`${folder}-none`, other), /does not exist/)
})
