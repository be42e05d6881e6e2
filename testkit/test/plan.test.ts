// Which files `npm test` runs, and which only `npm run test:chaos`.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { findTestFiles, planGroups } from '../runner/plan.ts'

const root = join(import.meta.dirname, '../..')
const isVariantGiven =
  process.env.JOBCAST_TEST_STORE !== undefined || process.env.JOBCAST_TEST_JOBS !== undefined
const filesOf = (...args: Parameters<typeof planGroups>) =>
  planGroups(...args).flatMap(({ files, suffix }) => files.map((file) => file + suffix))

test('every test file runs in npm test or in test:chaos', () => {
  const planned = new Set([...filesOf(root, 'test', []), ...filesOf(root, 'chaos', [])])
  assert.deepEqual(
    findTestFiles(root).filter((file) => !planned.has(file)),
    [],
  )
})

test('words choose files by their path, and those of test:chaos where no other has it', () => {
  assert.deepEqual(filesOf(root, 'test', ['testkit/test/plan.test.ts']), ['testkit/test/plan.test.ts'])
  assert.deepEqual(filesOf(root, 'test', ['fleet-under-load']), [
    'server/test/nodes/fleet-under-load.test.ts',
  ])
  assert.deepEqual(filesOf(root, 'test', ['no such file']), [])
})

test('what runs again on PostgreSQL has a name of its own', {
  skip: isVariantGiven && 'a variant was chosen',
}, () => {
  assert.deepEqual(filesOf(root, 'test', ['http/trigger-refusals']).sort(), [
    'server/test/http/trigger-refusals.test.ts',
    'server/test/http/trigger-refusals.test.ts on PostgreSQL',
  ])
})
