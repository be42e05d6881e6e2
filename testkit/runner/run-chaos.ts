// `npm run test:chaos`: every test that has a size or a seed, at its full size.
// `npm run test:seeds -- --seeds 20`: the same tests at the size of `npm test`, with one seed after the other.
// Paths behind it run only what is below them: npm run test:chaos -- server/test/nodes

import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

const root = join(import.meta.dirname, '../..')
const runner = join(import.meta.dirname, 'run-tests.ts')

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    size: { type: 'string', default: 'chaos' },
    seeds: { type: 'string', default: '1' },
  },
})

/** They import a size or a seed themselves, or what does: the suite of the stores, and axe. */
function findFiles(): string[] {
  const isRandom = /@jobcast\/testkit\/test-(size|seed)|\/(exercise-store|find-violations)\.ts/
  return globSync('*/test/**/*.test.ts', { cwd: root })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => positionals.length === 0 || positionals.some((path) => file.startsWith(path)))
    .filter((file) => isRandom.test(readFileSync(join(root, file), 'utf8')) || isOfDevices(file))
    .sort()
}

/** On PostgreSQL, most of them run only here. */
const isOfDevices = (file: string) => file.startsWith('server/test/devices/')

async function runWith(seed: number, files: string[]): Promise<boolean> {
  const child = spawn(process.execPath, [runner, ...files], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, JOBCAST_TEST_SIZE: values.size, JOBCAST_TEST_SEED: String(seed) },
  })
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  return code === 0
}

const files = findFiles()
const first = Number(process.env.JOBCAST_TEST_SEED || randomInt(2 ** 30))
for (let seed = first; seed < first + Number(values.seeds); seed++) {
  console.log(`JOBCAST_TEST_SIZE=${values.size} JOBCAST_TEST_SEED=${seed}`)
  if (await runWith(seed, files)) continue
  console.log(`failed with JOBCAST_TEST_SIZE=${values.size} JOBCAST_TEST_SEED=${seed}`)
  process.exitCode = 1
  break
}
