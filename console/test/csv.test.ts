import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Execution } from '@jobcast/client'
import { csvHead, csvLine } from '../src/screens/executions/csv.ts'

test('cells are quoted where they must be, and nothing a device says becomes a formula', () => {
  const execution = {
    jobExecutionId: 7,
    jobName: 'say "hi", twice',
    deviceId: 'a',
    statusDetails: { reason: 'disk\nfull' },
    deviceName: '=HYPERLINK("x")',
    result: null,
    attempt: 1,
  } as unknown as Execution
  assert.equal(
    csvLine(execution),
    '7,,"say ""hi"", twice",a,"\'=HYPERLINK(""x"")",,1,,,,"{""reason"":""disk\\nfull""}",\r\n',
  )
  assert.equal(csvHead.split(',').length, 12)
})
