// Inserts the executions of new runs: few with a statement, many with COPY, which is faster and has no limit.

import { numbersOf } from './listed-devices.ts'
import type { Transaction } from './transaction.ts'
import type { Launch } from './trigger-group.ts'

const INSERT = `
  INSERT INTO execution (execution_id, run_id, owner_no, device_no)
  SELECT execution_id, run_id, owner_no, device_no
  FROM unnest(CAST(:executionIds AS bigint[]), CAST(:runIds AS bigint[]), CAST(:ownerNos AS int[]),
    CAST(:deviceNos AS int[])) AS new (execution_id, run_id, owner_no, device_no)`
/** For one run. */
export const INSERT_EXECUTIONS = `
  INSERT INTO execution (execution_id, run_id, owner_no, device_no, priority, state, attempt, version_number)
  SELECT CAST(:first AS bigint) + position - 1, :runId, :ownerNo, device_no, CAST(:priority AS int), 'PENDING', 1, 1
  FROM unnest(CAST(:deviceNos AS int[])) WITH ORDINALITY AS new (device_no, position)`
const COPY = 'COPY execution (execution_id, run_id, owner_no, device_no) FROM STDIN (FORMAT binary)'

const leastForCopy = 500
/** The event loop is released between two pieces. */
const rowsOfPiece = 20_000

/** Resolves when the rows are sent; if they cannot be written, the commit fails. */
export async function sendExecutions(transaction: Transaction, all: Launch[]): Promise<void> {
  const [launches, prioritized] = [false, true].map((wanted) =>
    all.filter(({ run }) => (run.priority !== undefined) === wanted),
  ) as [Launch[], Launch[]]
  for (const launch of prioritized) sendPrioritized(transaction, launch)
  if (launches.length === 0) return
  const total = launches.reduce((sum, { devices }) => sum + devices.length, 0)
  if (total >= leastForCopy) return transaction.sendCopy(COPY, piecesOf(launches, total))
  const each = <Of>(toValue: (launch: Launch, index: number) => Of): Of[] =>
    launches.flatMap((launch) => launch.devices.map((_, index) => toValue(launch, index)))
  transaction.named.send(INSERT, {
    executionIds: each(({ run }, index) => run.firstExecutionId + index),
    runIds: each(({ run }) => run.runId),
    ownerNos: each(({ run }) => run.ownerNo),
    deviceNos: each(({ devices }, index) => devices.at(index)?.deviceNo),
  })
}

function sendPrioritized({ named }: Transaction, { run, devices }: Launch): void {
  const { runId, ownerNo, firstExecutionId, priority = null } = run
  const deviceNos = [...numbersOf(devices)]
  for (let start = 0; start < deviceNos.length; start += rowsOfPiece) {
    const batch = deviceNos.slice(start, start + rowsOfPiece)
    named.send(INSERT_EXECUTIONS, {
      first: firstExecutionId + start,
      runId,
      ownerNo,
      priority,
      deviceNos: batch,
    })
  }
}

// The format: https://www.postgresql.org/docs/current/sql-copy.html
const head = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1')
const end = Buffer.from([0xff, 0xff])
const rowBytes = 2 + 4 + 8 + 4 + 8 + 4 + 4 + 4 + 4

function* piecesOf(launches: Launch[], total: number): Generator<Buffer> {
  yield head
  let left = total
  const nextPiece = () => {
    const bytes = Buffer.allocUnsafe(Math.min(left, rowsOfPiece) * rowBytes)
    return { bytes, view: new DataView(bytes.buffer, bytes.byteOffset, bytes.length) }
  }
  let { bytes, view } = nextPiece()
  let at = 0
  for (const { run, devices } of launches) {
    let executionId = run.firstExecutionId
    for (const deviceNo of numbersOf(devices)) {
      writeRow(view, at, executionId++, run, deviceNo)
      at += rowBytes
      if (at < bytes.length) continue
      yield bytes
      left -= at / rowBytes
      ;({ bytes, view } = nextPiece())
      at = 0
    }
  }
  yield end
}

/** Uses a DataView, because the methods of Buffer check each value and take ten times as long. */
function writeRow(to: DataView, at: number, executionId: number, run: Launch['run'], deviceNo: number): void {
  const fields = 4
  to.setInt16(at, fields)
  writeInt8(to, at + 2, executionId)
  writeInt8(to, at + 14, run.runId)
  writeInt4(to, at + 26, run.ownerNo)
  writeInt4(to, at + 34, deviceNo)
}

function writeInt8(to: DataView, at: number, value: number): void {
  to.setInt32(at, 8)
  to.setInt32(at + 4, Math.floor(value / 2 ** 32))
  to.setUint32(at + 8, value % 2 ** 32)
}

function writeInt4(to: DataView, at: number, value: number): void {
  to.setInt32(at, 4)
  to.setInt32(at + 4, value)
}
