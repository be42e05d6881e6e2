// Repeatedly cuts the connections for hints between nodes, while many hints are sent.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'
import { createDatabase, execute, sharedPostgres } from '@jobcast/testkit/postgres-server'
import { longTest, testSize } from '@jobcast/testkit/test-size'
import { within } from '@jobcast/testkit/within'
import type { Hint } from '../../src/domain/common/ports/nodes.ts'
import { openPostgresStore } from '../../src/store/postgres/postgres-store.ts'
import { cutHearing } from './spawn-nodes.ts'

const cuts = testSize('cuts', { test: 3, chaos: 60 })
const boundMs = 120_000
const againMs = 5000

test(
  `cut ${cuts} times, nodes continue, receive hints again, and check everything that they may have missed`,
  longTest,
  async (t) => {
    const url = await createDatabase(await sharedPostgres())
    const one = await openPostgresStore({ url })
    t.after(() => one.close())
    const two = await openPostgresStore({ url })
    t.after(() => two.close())
    let isOver = false
    let told = 0
    /** Now and then, at any instant: also in that in which a connection has said that it ends and is not yet closed. */
    const telling = (async () => {
      for (let count = 0; !isOver; count++) {
        for (let pause = count % 7; pause > 0; pause--) await turn()
        one.nodes.send({ kind: 'runs-changed', runIds: [++told] })
      }
    })()
    t.after(() => {
      isOver = true
    })
    let hear: (hint: Hint) => void = () => undefined
    two.nodes.onHint((hint) => hear(hint))
    let looks = 0
    for (let cut = 0; cut < cuts; cut++) {
      const heard = Promise.withResolvers<void>()
      const looked = Promise.withResolvers<void>()
      const after = told
      hear = (hint) => {
        if (hint.kind === 'check-all') looked.resolve()
        if (hint.kind === 'runs-changed' && Number(hint.runIds[0]) > after + 1000) heard.resolve()
      }
      await within(boundMs, 'it has not looked at what it may have missed', cutUntil(url, looked.promise))
      await within(boundMs, 'it hears nothing', heard.promise)
      looks++
    }
    isOver = true
    await telling
    t.diagnostic(`${told} hints told, ${looks} looks at everything`)
  },
)

/** Connections are known by what was said on them last: at one instant there may be none, or only that of the other node. */
async function cutUntil(url: string, looked: Promise<void>): Promise<void> {
  const isDone = looked.then(() => true)
  do await cutHearing(url)
  while (!(await Promise.race([isDone, sleep(againMs, false, { ref: false })])))
}

test('messages that are not hints, or hints of another version, are ignored', async (t) => {
  const url = await createDatabase(await sharedPostgres())
  const store = await openPostgresStore({ url })
  t.after(() => store.close())
  const heard = Promise.withResolvers<void>()
  store.nodes.onHint((hint) => {
    assert.ok(hint.kind)
    heard.resolve()
  })
  const texts = ['', 'nonsense', '{}', '[null, 1, "events"]', '[{"kind":"check-all"}]']
  for (const text of texts) await execute(url, `SELECT pg_notify('jobcast', '${text}')`)
  await within(boundMs, 'it hears nothing more', heard.promise)
})
