import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'

/** Reads the size called "kills" and the seed in a separate process. */
function read(env: Record<string, string>, ...args: string[]): { size: number; seed: number } {
  const program = `
    import { testSeed } from '@jobcast/testkit/test-seed'
    import { testSize } from '@jobcast/testkit/test-size'
    console.log(JSON.stringify({ size: testSize('kills', { test: 5, chaos: 60 }), seed: testSeed }))`
  const options = ['--input-type=module', '--eval', program, '--', 'file.test.ts', ...args]
  const unset = { JOBCAST_TEST_SIZE: '', JOBCAST_TEST_SEED: '' }
  return JSON.parse(
    execFileSync(process.execPath, options, {
      cwd: import.meta.dirname,
      env: { ...process.env, ...unset, ...env },
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  )
}

test('the size is that of npm test, of test:chaos, or the argument of the file', () => {
  assert.equal(read({}).size, 5)
  assert.equal(read({ JOBCAST_TEST_SIZE: 'chaos' }).size, 60)
  assert.equal(read({ JOBCAST_TEST_SIZE: 'chaos' }, 'cuts=7', 'kills=1000').size, 1000)
})

test('a size or a seed that is none is refused', () => {
  assert.throws(() => read({ JOBCAST_TEST_SIZE: 'huge' }), /use "test" or "chaos"/)
  assert.throws(() => read({}, 'kills=many'), /kills=many: use a whole number from 1 up/)
  assert.throws(() => read({ JOBCAST_TEST_SEED: '1.5' }), /use a whole number from 0/)
})

test('the seed is the one that is given, else another in each process', () => {
  assert.equal(read({ JOBCAST_TEST_SEED: '7' }).seed, 7)
  assert.notEqual(read({}).seed, read({}).seed)
})
