import assert from 'node:assert/strict'
import { test } from 'node:test'
import { heldAsNow } from '../../../src/domain/job/held-as-now.ts'

const [slow, fast] = [{ waves: [{ size: 1 }] }, { waves: [{ size: '100%' }] }]

test('an earlier version is no way around the approval or the window of the current one', () => {
  assert.deepEqual(heldAsNow({}, { approval: true, window: 'nights' }), { approval: true, window: 'nights' })
  assert.deepEqual(heldAsNow({ window: 'days' }, { window: 'nights' }), { window: 'nights' })
})

test('what the current version does not hold back, an earlier one does not either', () => {
  assert.deepEqual(heldAsNow({ approval: true, window: 'days' }, {}), {})
})

test('a version has its own rollout, else that of the current one', () => {
  assert.deepEqual(heldAsNow({ rollout: slow }, { rollout: fast }), { rollout: slow })
  assert.deepEqual(heldAsNow({}, { rollout: fast }), { rollout: fast })
})

test('all else is that of the version', () => {
  const version = { document: { to: '1.2' }, timeoutSeconds: 5, window: 'days' }
  assert.deepEqual(heldAsNow(version, { window: 'nights' }), { ...version, window: 'nights' })
})
