// The seed of everything random in this process. The title of each test that uses it has the seed, and
// JOBCAST_TEST_SEED=<seed> repeats its choices. Without it, each process chooses its own.

import { randomInt } from 'node:crypto'
import { type Sizes, testSize } from './test-size.ts'

export const testSeed = readSeed(process.env.JOBCAST_TEST_SEED)

function readSeed(text: string | undefined): number {
  if (text === undefined || text === '') return randomInt(2 ** 31)
  const seed = Number(text)
  if (!Number.isSafeInteger(seed) || seed < 0 || seed >= 2 ** 31) {
    throw new Error(`JOBCAST_TEST_SEED is "${text}": use a whole number from 0 to 2147483647`)
  }
  return seed
}

/** For fast-check: how many inputs it tries, and the seed, which it prints with a failure. */
export function randomInputs(sizes: Sizes): { numRuns: number; seed: number } {
  return { numRuns: testSize('inputs', sizes), seed: testSeed }
}
