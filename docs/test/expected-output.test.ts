import assert from 'node:assert/strict'
import { test } from 'node:test'
import { looksLike } from './expected-output.ts'

const page = `Run 1: restart on 2 devices
…
kiosk-7: FAILED: … (execution 2)
restart #1  1 SUCCEEDED 1 FAILED`

const printed = `Run 1: restart on 2 devices
restart #1  0/2  2 PENDING  0:00
kiosk-7: FAILED: disk full (execution 2)
restart #1  2/2  1 SUCCEEDED 1 FAILED  0:05
restart #1  1 SUCCEEDED 1 FAILED`

test('the number of progress lines does not matter, and every other line does', () => {
  assert.ok(looksLike(page, printed))
  assert.ok(!looksLike(page, `${printed}\nexit code 6`))
  assert.ok(!looksLike(page, printed.replace('0:05', '0:05\nkiosk-8: EXPIRED')))
})
