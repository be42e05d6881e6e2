// The bar of export, import and backup.

import assert from 'node:assert/strict'
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openServer } from '@jobcast/testkit/open-server'
import { openTerminal } from './open-terminal.ts'
import { dataFolder, runJobcast } from './run-jobcast.ts'

test('export, import and backup draw a bar on a terminal, and erase it', async (t) => {
  const folder = dataFolder(t)
  const data = join(folder, 'data')
  const service = await openServer(t, { dataFolder: data })
  await service.putJobAndDevices('restart', ['d1', 'd2'])
  assert.equal((await service.trigger('restart', ['d1', 'd2'])).status, 201)
  await service.server.stop()
  const file = join(folder, 'move.jsonl.gz')
  const empty = join(folder, 'imported')
  // biome-ignore format: a line each
  const commands: [args: string[], bar: RegExp, says: RegExp][] = [
    [['export', '--data', data, file], /\rExporting █{30} {2}100 % {2}[a-z ]+ {2}0:\d\d\r/, /^Exported from /m],
    [['import', '--data', empty, file], /\rImporting █{30} {2}100 % {2}0:\d\d\r/, /^Imported into /m],
    [['backup', '--data', data, '--to', join(folder, 'backup.db')], /\rBacking up █{30} {2}100 % {2}checking the copy {2}0:\d\d\r/, /^Backup written and verified/m],
  ]
  for (const [args, bar, says] of commands) {
    const terminal = openTerminal(t, args, { NO_COLOR: '1' }, 200)
    assert.equal(await terminal.ended, 0, terminal.screen.text())
    assert.match(terminal.screen.raw.replaceAll('\u001b[K', ''), bar)
    assert.doesNotMatch(terminal.screen.text(), /[█░]/)
    assert.match(terminal.screen.text(), says)
  }
  assert.ok(existsSync(join(empty, 'jobcast.db')) && statSync(file).size > 0)
})

test('elsewhere, and on a terminal that cannot move its cursor, there is none', async (t) => {
  const folder = dataFolder(t)
  const data = join(folder, 'data')
  const service = await openServer(t, { dataFolder: data })
  await service.server.stop()
  const args = ['export', '--data', data]
  const piped = await runJobcast([...args, join(folder, 'piped.gz')])
  assert.equal(piped.code, 0, piped.stderr)
  assert.doesNotMatch(piped.stdout + piped.stderr, /[█░\r]/)
  const dumb = openTerminal(t, [...args, join(folder, 'dumb.gz')], { TERM: 'dumb' })
  assert.equal(await dumb.ended, 0)
  assert.doesNotMatch(dumb.screen.raw, /[█░]/)
})
