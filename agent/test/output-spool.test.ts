import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '@jobcast/testkit/temporary-folder'
import { OutputSpool } from '../src/output/output-spool.ts'

test('output is stored in order by offset, survives a reopening, and ends one byte after the limit', async (t) => {
  const path = join(temporaryFolder(t), 'output')
  const failures: unknown[] = []
  const first = await OutputSpool.open(path, 10, (error) => failures.push(error))
  await Promise.all(['abc', 'def'].map((text) => first.append(Buffer.from(text))))
  assert.equal((await first.read(2, 100)).toString(), 'cdef')
  await first.close()

  const second = await OutputSpool.open(path, 10, (error) => failures.push(error))
  assert.deepEqual([second.lengthAtOpen, second.length, second.isCut], [6, 6, false])
  await second.append(Buffer.from('ghij'))
  assert.equal(second.isCut, false)
  await second.append(Buffer.from('klm'))
  await second.append(Buffer.from('n'))
  await second.end()
  assert.deepEqual([second.length, second.isCut, second.hasEnded], [11, true, true])
  assert.equal((await second.read(0, 100)).toString(), 'abcdefghijk')
  await second.close()
  assert.deepEqual(failures, [])
})

test('a full disk only truncates the output', {
  skip: existsSync('/dev/full') ? false : 'there is no /dev/full here',
}, async () => {
  const failures: unknown[] = []
  const spool = await OutputSpool.open('/dev/full', 1000, (error) => failures.push(error))
  await spool.append(Buffer.from('abc'))
  await spool.append(Buffer.from('def'))
  assert.deepEqual([spool.isCut, spool.length, failures.length], [true, 0, 1])
  await spool.close()
})
