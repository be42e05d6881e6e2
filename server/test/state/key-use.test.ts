import assert from 'node:assert/strict'
import { test } from 'node:test'
import { KeyUse } from '../../src/state/key-use.ts'

test('uses are written together, the latest of each key, and only when there are any', async () => {
  const written: object[] = []
  const keyUse = new KeyUse({ recordKeyUse: async (uses) => void written.push(uses) })
  await keyUse.record()
  keyUse.note('a', 1)
  keyUse.note('b', 2)
  keyUse.note('a', 3)
  await keyUse.record()
  await keyUse.record()
  assert.deepEqual(written, [
    [
      { keyId: 'a', at: 3 },
      { keyId: 'b', at: 2 },
    ],
  ])
})

test('uses that could not be written are kept, and do not replace later ones', async () => {
  const written: object[] = []
  let isAway = true
  const keyUse = new KeyUse({
    async recordKeyUse(uses) {
      keyUse.note('a', 9)
      if (isAway) throw new Error('away')
      written.push(uses)
    },
  })
  keyUse.note('a', 1)
  keyUse.note('b', 2)
  await assert.rejects(keyUse.record(), /away/)
  isAway = false
  await keyUse.record()
  assert.deepEqual(written, [
    [
      { keyId: 'a', at: 9 },
      { keyId: 'b', at: 2 },
    ],
  ])
})
