// The windows that hold executions back, and when these were open (domain/window/offer-history.ts). Owners without windows who
// never froze their fleet have no history, so one index lookup is enough for them.

import type { SteadyInstant } from '../domain/common/instants.ts'
import type { LiveExecution } from '../domain/execution/execution-move.ts'
import { anyTime } from '../domain/window/any-time.ts'
import {
  type Holder,
  type OfferChange,
  OfferHistory,
  type WindowSpan,
  wholeFleet,
} from '../domain/window/offer-history.ts'
import { inBoth, type Queries } from './queries.ts'
import { computed, select, text } from './schema/column.ts'
import { deviceWindow, execution, offerHistory, owner, runRequest } from './schema/tables.ts'

const OWNER = select(owner.pick('ownerNo'))
const OWNERS = inBoth(
  ({ isIn }) => `
  SELECT ${OWNER} FROM owner WHERE ${isIn('owner_no', 'ownerNos', 'integer')}
    AND (SELECT 1 FROM offer_history WHERE offer_history.owner_no = owner.owner_no LIMIT 1) IS NOT NULL`,
)
/** `isCounted`: selects the effective one of two zones. */
const zoneOfDevice = (isCounted: string) => `coalesce((
  SELECT zone FROM device_attribute
  WHERE device_attribute.device_no = execution.device_no AND name = 'timeZone' AND ${isCounted}), 'UTC')`
const held = (isCounted: string) =>
  select({
    ...execution.pick('jobExecutionId', 'ownerNo'),
    window: runRequest.fields.window,
    zone: computed(zoneOfDevice(isCounted), text()),
  })
const HELD = held('NOT shadowed')
const HOLDERS = inBoth(
  ({ is, join, wanted }) => `
  SELECT ${is === 'sqlite' ? held('shadowed = 0') : HELD}
  FROM ${wanted('ids')} ${join} execution ON execution_id = wanted.id
    LEFT JOIN run_request ON run_request.run_id = execution.run_id`,
)
const SPAN = select(deviceWindow.pick('deviceNo', 'windowName', 'since', 'until'))
const SPANS = inBoth(
  ({ isIn }) => `
  SELECT ${SPAN} FROM device_window WHERE ${isIn('device_no', 'deviceNos', 'integer')}
  ORDER BY device_no, since_clock, group_name`,
)
const CHANGE = select(offerHistory.pick('ownerNo', 'windowName', 'clock', 'openZones'))
const CHANGES = inBoth(
  ({ isIn }) => `
  SELECT ${CHANGE} FROM offer_history
  WHERE ${isIn('owner_no', 'ownerNos', 'integer')} AND ${isIn('window_name', 'names', 'text')}
  ORDER BY owner_no, window_name, clock`,
)

export class Holders {
  readonly #queries: Queries
  readonly #holders = new Map<number, Holder>()
  readonly #read = new Set<string>()
  #changes: OfferChange[] = []
  history = new OfferHistory([])

  constructor(queries: Queries) {
    this.#queries = queries
  }

  get changes(): OfferChange[] {
    return this.#changes
  }

  /** The holder of an execution that was read; undefined: nothing has held it back. */
  of({ jobExecutionId }: LiveExecution): Holder | undefined {
    return this.#holders.get(jobExecutionId)
  }

  heldMs(execution: LiveExecution, from: SteadyInstant, to: SteadyInstant): number {
    const holder = this.of(execution)
    return holder === undefined ? 0 : this.history.heldMs(holder, from, to)
  }

  async read(executions: LiveExecution[]): Promise<void> {
    if (executions.length === 0) return
    const ownerNos = [...new Set(executions.map(({ ownerNo }) => ownerNo))]
    const found = await this.#queries.all(OWNER, OWNERS, { ownerNos })
    if (found.length === 0) return
    const owners = new Set(found.map(({ ownerNo }) => ownerNo))
    const ids = executions.flatMap((each) => (owners.has(each.ownerNo) ? [each.jobExecutionId] : []))
    const deviceNos = new Set(executions.flatMap((each) => (owners.has(each.ownerNo) ? [each.deviceNo] : [])))
    const spans = await this.#readSpans([...deviceNos])
    const deviceOf = new Map(executions.map(({ jobExecutionId, deviceNo }) => [jobExecutionId, deviceNo]))
    for (const { jobExecutionId, ownerNo, window, zone } of await this.#queries.all(HELD, HOLDERS, { ids })) {
      const ofDevice = window === anyTime ? undefined : spans.get(deviceOf.get(jobExecutionId) ?? 0)
      const windows = window === null || window === anyTime ? [] : [window]
      this.#holders.set(jobExecutionId, { ownerNo, zone, windows, ...(ofDevice && { ofDevice }) })
    }
    await this.readHistory([...this.#holders.values()])
  }

  /** Windows of devices, including those that no longer apply. */
  async #readSpans(deviceNos: number[]): Promise<Map<number, WindowSpan[]>> {
    const found = await this.#queries.all(SPAN, SPANS, { deviceNos })
    return Map.groupBy(found, ({ deviceNo }) => deviceNo)
  }

  async readHistory(holders: Holder[]): Promise<void> {
    const wanted = holders.flatMap(({ ownerNo, windows, ofDevice = [] }) =>
      [wholeFleet, ...windows, ...ofDevice.map(({ windowName }) => windowName)].map((windowName) => {
        return { ownerNo, windowName }
      }),
    )
    const unread = wanted.filter(({ ownerNo, windowName }) => !this.#read.has(`${ownerNo} ${windowName}`))
    if (unread.length === 0) return
    const ownerNos = [...new Set(unread.map(({ ownerNo }) => ownerNo))]
    const names = [...new Set(unread.map(({ windowName }) => windowName))]
    const changes = await this.#queries.all(CHANGE, CHANGES, { ownerNos, names })
    const isNew = ({ ownerNo, windowName }: OfferChange) => !this.#read.has(`${ownerNo} ${windowName}`)
    this.#changes = [...this.#changes, ...changes.filter(isNew)]
    for (const ownerNo of ownerNos) for (const name of names) this.#read.add(`${ownerNo} ${name}`)
    this.history = new OfferHistory(this.#changes)
  }
}
