// `npm run test:chaos`: runs every test that has a size or a seed at its full size, and the tests that `npm test` omits.
// `npm run test:seeds -- --seeds 20`: runs the same tests at the size of `npm test`, with one seed after the other.
// Words after it select the files whose path contains one: npm run test:chaos -- server/test/nodes

import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

const runner = join(import.meta.dirname, 'run-tests.ts')

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    size: { type: 'string', default: 'chaos' },
    seeds: { type: 'string', default: '1' },
    times: { type: 'boolean', default: false },
  },
})

async function runWith(seed: number): Promise<boolean> {
  const args = [runner, '--chaos', ...(values.times ? ['--times'] : []), ...positionals]
  const child = spawn(process.execPath, args, {
    stdio: 'inherit',
    env: { ...process.env, JOBCAST_TEST_SIZE: values.size, JOBCAST_TEST_SEED: String(seed) },
  })
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  return code === 0
}

const first = Number(process.env.JOBCAST_TEST_SEED || randomInt(2 ** 30))
for (let seed = first; seed < first + Number(values.seeds); seed++) {
  console.log(`JOBCAST_TEST_SIZE=${values.size} JOBCAST_TEST_SEED=${seed}`)
  if (await runWith(seed)) continue
  console.log(`failed with JOBCAST_TEST_SIZE=${values.size} JOBCAST_TEST_SEED=${seed}`)
  process.exitCode = 1
  break
}
