import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fuzzyFilter, fuzzyMatch } from '../src/parts/fuzzy-match.ts'

const jobs = ['restart', 'reset-network', 'update-firmware', 'collect-logs', 'run-self-test', 'first-start']
const found = (pattern: string) => fuzzyFilter(pattern, jobs, (name) => name).map(({ item }) => item)

test('letters may be omitted, and the best match is first', () => {
  assert.deepEqual(found('rst'), ['first-start', 'run-self-test', 'restart', 'reset-network'])
  assert.deepEqual(found('rest'), ['restart', 'reset-network', 'run-self-test'])
  assert.equal(found('uf')[0], 'update-firmware')
  assert.equal(found('logs')[0], 'collect-logs')
  assert.equal(found('START')[0], 'first-start')
  assert.deepEqual(found('xyz'), [])
  assert.equal(found('').length, jobs.length)
})

test('returns the positions of matched letters', () => {
  assert.deepEqual(fuzzyMatch('fw', 'update-firmware')?.positions, [7, 11])
  assert.deepEqual(fuzzyMatch('ware', 'update-firmware')?.positions, [11, 12, 13, 14])
  assert.equal(fuzzyMatch('ba', 'ab'), undefined)
})
