// Devices that report without a pause and record acknowledgements: progress, output, ends. The check compares them with the
// disk: everything acknowledged is there, nothing that was not sent, and nothing twice.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Json, MqttLine } from './mqtt-line.ts'

type Reported = {
  /** Steps of progress: each is one update. */
  sent: number
  acknowledged: number
  /** Bytes of output. */
  acknowledgedBytes: number
  endIsSent: boolean
  endIsAcknowledged: boolean
}

export class AcknowledgedReports {
  readonly #stepsPerExecution: number
  readonly #byId = new Map<number, Reported>()
  acknowledged = 0

  constructor(stepsPerExecution: number) {
    this.#stepsPerExecution = stepsPerExecution
  }

  /** For a SimulatedDevice: reports from the server's current step to the end. */
  readonly carryOut = async (line: MqttLine, execution: Json): Promise<void> => {
    const id = Number(execution.jobId)
    const reported = this.#reportedOf(id)
    const stored = Number(execution.statusDetails.step ?? 0)
    assert.ok(stored >= reported.acknowledged && stored <= reported.sent, `it is at step ${stored} of ${id}`)
    for (let step = stored + 1; step <= this.#stepsPerExecution; step++) {
      reported.sent = Math.max(reported.sent, step)
      await Promise.all([this.#reportStep(line, id, step), this.#reportOutput(line, id, step)])
    }
    reported.endIsSent = true
    assert.equal(await line.publish(`${id}/update`, { status: 'SUCCEEDED' }), 0)
    reported.endIsAcknowledged = true
    this.acknowledged++
  }

  async #reportStep(line: MqttLine, id: number, step: number): Promise<void> {
    const update = { status: 'IN_PROGRESS', statusDetails: { step: String(step) } }
    assert.equal(await line.publish(`${id}/update`, update), 0)
    this.#reportedOf(id).acknowledged = step
    this.acknowledged++
  }

  /** Sends all output again that is not known to be stored. */
  async #reportOutput(line: MqttLine, id: number, step: number): Promise<void> {
    const reported = this.#reportedOf(id)
    const offset = reported.acknowledgedBytes
    const text = outputUpTo(id, step)
    assert.equal(await line.publish(`${id}/output`, { offset, data: text.slice(offset) }), 0)
    reported.acknowledgedBytes = text.length
    this.acknowledged++
  }

  #reportedOf(id: number): Reported {
    let reported = this.#byId.get(id)
    if (reported === undefined) {
      reported = {
        sent: 0,
        acknowledged: 0,
        acknowledgedBytes: 0,
        endIsSent: false,
        endIsAcknowledged: false,
      }
      this.#byId.set(id, reported)
    }
    return reported
  }

  /** Call after the server has ended. */
  check(dataFolder: string): void {
    const db = new DatabaseSync(join(dataFolder, 'jobcast.db'), { readOnly: true })
    assert.equal(db.prepare('PRAGMA integrity_check').get()?.integrity_check, 'ok')
    const find = db.prepare('SELECT * FROM execution WHERE execution_id = ?')
    const pieces = db.prepare('SELECT start, data FROM output WHERE execution_id = ? ORDER BY start')
    for (const [id, reported] of this.#byId) {
      const row = find.get(id)
      assert.ok(row, `execution ${id} is gone`)
      const where = `execution ${id}: ${JSON.stringify({ ...row, ...reported })}`
      const step = Number(JSON.parse((row.status_details as string | null) ?? '{}').step ?? 0)
      const hasEnded = row.state === 'SUCCEEDED'
      assert.ok(hasEnded || row.state === 'IN_PROGRESS', where)
      assert.ok(hasEnded || !reported.endIsAcknowledged, `an end was lost, ${where}`)
      assert.ok(!hasEnded || reported.endIsSent, `an end that nobody sent, ${where}`)
      assert.ok(step >= reported.acknowledged, `progress was lost, ${where}`)
      assert.ok(step <= reported.sent, `progress that nobody sent, ${where}`)
      // One for the trigger, one for the start, one for each step, one for the end.
      assert.equal(row.version_number, 2 + step + Number(hasEnded), where)
      checkOutput(id, reported, pieces.all(id) as Piece[], row.output_bytes as number)
    }
    db.close()
  }
}

type Piece = { start: number; data: Uint8Array }

function checkOutput(id: number, reported: Reported, pieces: Piece[], length: number): void {
  const text = Buffer.concat(pieces.map(({ data }) => data)).toString()
  assert.equal(text.length, length, `pieces of the output of ${id} overlap or miss`)
  assert.ok(length >= reported.acknowledgedBytes, `output of ${id} was lost`)
  assert.equal(text, outputUpTo(id, reported.sent).slice(0, length), `output of ${id} is another`)
}

function outputUpTo(id: number, step: number): string {
  let text = ''
  for (let i = 1; i <= step; i++) text += `execution ${id}, step ${i}\n`
  return text
}
