// A process of its own: triggers a large run and small ones beside it until a small one has overtaken, and then kills
// itself. What it was answered it has told before.

import { writeSync } from 'node:fs'
import type { Trigger } from '../../src/domain/trigger/trigger.ts'
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts'
import { runOf } from './store-under-test.ts'

export type Answered = { runId: number; firstExecutionId: number; total: number }

const [folder = '', text = '{}'] = process.argv.slice(2)
const { large, small } = JSON.parse(text) as { large: Trigger; small: Trigger }
const store = openSqliteStore({
  folder,
  onLost: (error) => {
    throw error
  },
})

async function create(trigger: Trigger): Promise<Answered> {
  const { runId, firstExecutionId, devices } = runOf((await store.createExecutions([trigger]))[0])
  const answered = { runId, firstExecutionId, total: devices.length }
  writeSync(1, `${JSON.stringify(answered)}\n`)
  return answered
}

let last = 0
for (;;) {
  let isMade = false
  const making = create(large).finally(() => {
    isMade = true
  })
  const before = last
  while (!isMade) {
    const { runId } = await create(small)
    // An id between the two is the large run's, which has been sent and is not answered.
    const hasOvertaken = runId > last + 1 && last >= before && !isMade
    if (hasOvertaken && last > 0) process.kill(process.pid, 'SIGKILL')
    last = runId
  }
  last = Math.max(last, (await making).runId)
}
