// The size of brute-force tests: many kills, many devices, many random inputs. `npm test` does enough to notice that something
// broke; `npm run test:chaos` does enough to trust it. Before a release, one file can take a size as its argument:
// node server/test/end-to-end/crash.test.ts kills=1000

export type Sizes = { test: number; chaos: number }

const given = process.argv.slice(2).filter((text) => /^[a-zA-Z]+=/.test(text))

/** A time limit for tests of large size. With a size as argument, a test may take hours. */
export const longTest = { timeout: (given.length > 0 ? 12 * 60 : 30) * 60_000 }

/** Whether the size is that of `npm run test:chaos`. */
export const isChaos = process.env.JOBCAST_TEST_SIZE === 'chaos'

/** `name` is the name of the argument. */
export function testSize(name: string, sizes: Sizes): number {
  const argument = given.find((text) => text.startsWith(`${name}=`))
  if (argument !== undefined) return checkedSize(argument, Number(argument.slice(name.length + 1)))
  const chosen = process.env.JOBCAST_TEST_SIZE || 'test'
  if (chosen !== 'test' && chosen !== 'chaos') {
    throw new Error(`JOBCAST_TEST_SIZE is "${chosen}": use "test" or "chaos"`)
  }
  return sizes[chosen]
}

function checkedSize(argument: string, size: number): number {
  if (!Number.isSafeInteger(size) || size < 1) throw new Error(`${argument}: use a whole number from 1 up`)
  return size
}
