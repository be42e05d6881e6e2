// Text on its own: widths, tables, progress, exit codes.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  ConnectionError,
  type ErrorCode,
  InvalidName,
  JobcastError,
  UnexpectedAnswer,
  WaitTimeout,
} from '@jobcast/client'
import { exitCodeOf } from '../src/errors/exit-code.ts'
import { explainError } from '../src/errors/explain-error.ts'
import { MissingKey, NothingFound, UsageError } from '../src/errors/usage-error.ts'
import { elapsedText, waitMs } from '../src/flags/wait-time.ts'
import { tableText } from '../src/output/print-table.ts'
import { progressBar, reasonOf } from '../src/output/progress.ts'
import { cutText, plainText, textWidth } from '../src/output/text-width.ts'
import { LineSplitter } from '../src/watch/follow-outputs.ts'

const plain = (_: string, text: string) => text
const counts = {
  PENDING: 0,
  IN_PROGRESS: 0,
  CANCELING: 0,
  SUCCEEDED: 0,
  FAILED: 0,
  TIMED_OUT: 0,
  REJECTED: 0,
  EXPIRED: 0,
  CANCELED: 0,
}

test('measures text in terminal columns', () => {
  for (const [text, width] of [
    ['abc', 3],
    ['日本', 4],
    ['e\u0301', 1],
    ['👩‍👩‍👧', 2],
    ['\u001b[31mred\u001b[39m', 3],
    ['', 0],
  ] as const) {
    assert.equal(textWidth(text), width, text)
  }
  assert.equal(cutText('abcdef', 4), 'abc…')
  assert.equal(cutText('\u001b[31mabcdef\u001b[39m', 4), '\u001b[31mabc…\u001b[39m')
  assert.equal(cutText('日本語', 4), '日…')
  assert.equal(cutText('abc', 3), 'abc')
})

test('text of others cannot control the terminal', () => {
  assert.equal(plainText('a\u001b[2Jb\r\nc\u0007\u202e'), 'a�[2Jb c��')
})

test('a table is as wide as its content', () => {
  const columns = [
    { title: 'NAME', of: ([name]: string[]) => name },
    { title: 'WHAT', of: ([, what]: string[]) => what },
  ]
  const rows = [['日本', 'x'], ['b']]
  const look = { paint: plain, columns: undefined }
  assert.equal(tableText(rows, columns, look), 'NAME  WHAT\n日本  x\nb     -')
  assert.equal(tableText([['a', 'long text']], columns, { ...look, columns: 9 }), 'NAME  WH…\na     lo…')
})

test('the bar fills the available width', () => {
  const run = {
    runId: 12,
    jobName: 'restart',
    launchedAt: '2026-11-15T09:30:00',
    total: 10,
    counts: { ...counts, SUCCEEDED: 5, FAILED: 1, IN_PROGRESS: 1, PENDING: 3 },
    finished: false,
    ...{ finishedAt: null, retryOf: null, createdBy: null, createdByName: null, rollout: null },
    ...{ where: null, matched: null, note: null, version: 1, parameters: {}, rollbackOf: null, window: null },
    ...{ scheduleName: null, scheduledFor: null, approvals: [], priority: 5, replaces: false },
  }
  const numbers = '6/10  5 SUCCEEDED 1 FAILED 1 IN_PROGRESS 3 PENDING  0:12'
  assert.equal(
    progressBar(run, 12_400, plain, 200),
    `restart #12 ${'█'.repeat(18)}${'░'.repeat(12)}  ${numbers}`,
  )
  assert.equal(progressBar(run, 12_400, plain, 80), `restart #12 ██████░░░░  ${numbers}`)
  assert.equal(progressBar(run, 12_400, plain, 60), `restart #12  ${numbers}`)
})

test('the reason is what the device reported, or what the state means', () => {
  const said = { exitCode: '1', durationMs: '12' }
  const explained = { ...said, reason: 'disk full' }
  assert.equal(reasonOf({ execState: 'FAILED', statusDetails: explained }), 'disk full')
  assert.equal(reasonOf({ execState: 'FAILED', statusDetails: said }), 'exitCode 1, durationMs 12')
  assert.equal(reasonOf({ execState: 'EXPIRED', statusDetails: {} }), 'not started before it expired')
  assert.equal(reasonOf({ execState: 'CANCELED', statusDetails: {} }), '')
})

test('splits output into lines, however it is chunked', () => {
  const lines: string[] = []
  const splitter = new LineSplitter((line) => lines.push(line))
  const bytes = new TextEncoder().encode('grün\r\nzwei\n\ndrei')
  for (const byte of bytes) splitter.push(Uint8Array.of(byte))
  splitter.end()
  assert.deepEqual(lines, ['grün', 'zwei', '', 'drei'])
})

test('parses wait limits and shows elapsed time', () => {
  assert.deepEqual(['90s', '10m', '24d'].map(waitMs), [90_000, 600_000, 24 * 86_400_000])
  for (const text of ['', '0s', '10', 'm', '25d', '-1s']) assert.throws(() => waitMs(text), /It must be/)
  assert.deepEqual([0, 59_999, 61_000, 3_723_000].map(elapsedText), ['0:00', '0:59', '1:01', '1:02:03'])
})

test('each kind of error has its exit code', () => {
  const answer = (code: ErrorCode, status: number) => new JobcastError({ code, status, message: '' })
  for (const [error, code] of [
    [new UsageError(), 2],
    [new InvalidName(), 2],
    [new MissingKey(), 3],
    [answer('J-802', 403), 3],
    [answer('J-804', 403), 3],
    [new UnexpectedAnswer('', 401), 3],
    [answer('J-001', 404), 4],
    [answer('J-306', 410), 4],
    [new NothingFound(), 4],
    [answer('J-500', 400), 5],
    [answer('J-501', 422), 5],
    [answer('J-303', 409), 5],
    [answer('J-305', 409), 5],
    [answer('J-904', 413), 5],
    [answer('J-905', 415), 5],
    [new WaitTimeout(1, 1, undefined), 7],
    [new ConnectionError(), 8],
    [answer('J-502', 409), 8],
    [answer('J-903', 408), 8],
    [answer('J-900', 500), 8],
    [answer('J-909', 503), 8],
    [new UnexpectedAnswer('', 404), 8],
    [answer('J-902', 405), 1],
    [new TypeError(), 1],
  ] as const) {
    assert.equal(exitCodeOf(error), code, String(error))
  }
})

test('a missing scope is named beside the reason', () => {
  const message = 'API key does not have the required permission: APPROVE'
  const refused = new JobcastError({ code: 'J-804', status: 403, message, detail: 'Fewer approvals.' })
  assert.equal(explainError(refused), `jobcast: ${message} (J-804): Fewer approvals.`)
})

test('an answer that names devices is one sentence, in which each is named once', () => {
  const deviceIds = ['d5']
  const said = (detail?: string) =>
    explainError(
      new JobcastError({
        code: 'J-506',
        status: 409,
        message: 'Lacking',
        deviceIds,
        ...(detail && { detail }),
      }),
    )
  assert.equal(said(), 'jobcast: Lacking (J-506): d5')
  assert.equal(said('The device d5 has no site.'), 'jobcast: Lacking (J-506): The device d5 has no site.')
  assert.equal(said('One has no site.'), 'jobcast: Lacking (J-506): One has no site: d5')
})
