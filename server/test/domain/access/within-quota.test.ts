import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '@jobcast/contract'
import { noQuotas } from '../../../src/domain/access/quotas.ts'
import { withinQuota } from '../../../src/domain/access/within-quota.ts'

const quota = 'max-owner-devices'

/** `settled`: whether what was reserved is kept. */
function depsWith(hasRoom: boolean, limit = 5) {
  const settled: boolean[] = []
  const quotaCounts = {
    reserve: async () => hasRoom,
    settle: (_quota: string, _who: unknown, _count: number, created: boolean) => void settled.push(created),
    used: () => 0,
  }
  return { settled, deps: { quotas: { ...noQuotas, [quota]: limit }, quotaCounts } }
}
const create = async () => 'made'

test('what is created within the quota is counted', async () => {
  const { settled, deps } = depsWith(true)
  assert.equal(await withinQuota(deps, quota, 1, create), 'made')
  assert.deepEqual(settled, [true])
})

test('what only replaced something, or failed, takes no room', async () => {
  const { settled, deps } = depsWith(true)
  await withinQuota(deps, quota, 1, create, { isCreated: () => false })
  await assert.rejects(
    withinQuota(deps, quota, 1, () => Promise.reject(new Error('no disk'))),
    /no disk/,
  )
  assert.deepEqual(settled, [false, false])
})

test('beyond the quota nothing is created, unless it is there already', async () => {
  const { settled, deps } = depsWith(false)
  let calls = 0
  const counted = async () => ++calls
  await assert.rejects(withinQuota(deps, quota, 1, counted), ApiError)
  assert.equal(calls, 0)
  assert.equal(await withinQuota(deps, quota, 1, counted, { mayReplace: async () => true }), 1)
  assert.deepEqual(settled, [])
})

test('a quota of 0 counts nothing', async () => {
  const { settled, deps } = depsWith(false, 0)
  assert.equal(await withinQuota(deps, quota, 1, create), 'made')
  assert.deepEqual(settled, [])
})
