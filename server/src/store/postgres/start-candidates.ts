// What a device may be given when it asks for its next execution.

import type { DeviceKey } from '../../domain/ports/devices.ts'
import type { Queries } from '../queries.ts'
import { number, orNull, rows } from '../schema/column.ts'

// Whether a device is there, and ids of what its start-next may be about: what is under way on it, and the first of what
// waits for it.
const CANDIDATES = `
  SELECT position, device_no AS "deviceNo", execution_id AS "jobExecutionId"
  FROM unnest(CAST(:ownerNos AS int[]), CAST(:deviceIds AS text[]), CAST(:limits AS int[])) WITH ORDINALITY AS wanted (owner_no, device_id, enough, position)
    JOIN device USING (owner_no, device_id)
    LEFT JOIN LATERAL (
      (SELECT execution_id FROM execution WHERE device_no = device.device_no
         AND state > 'PENDING' AND state <= 'CANCELING' ORDER BY execution_id LIMIT enough)
      UNION ALL
      (SELECT execution_id FROM execution WHERE device_no = device.device_no AND state = 'PENDING'
         AND not_before IS NULL ORDER BY execution_id LIMIT enough)) AS candidate ON true
  WHERE deleted_at IS NULL`
const CANDIDATE = rows({ position: number(), deviceNo: number(), jobExecutionId: orNull(number()) })

/** One for each device that is there, if only without an execution. */
export async function findCandidates(queries: Queries, wanted: { device: DeviceKey; enough: number }[]) {
  const found = await queries.all(CANDIDATE, CANDIDATES, {
    ownerNos: wanted.map(({ device }) => device.ownerNo),
    deviceIds: wanted.map(({ device }) => device.deviceId),
    limits: wanted.map(({ enough }) => enough),
  })
  return found.flatMap(({ position, ...candidate }) => {
    const device = wanted[position - 1]?.device
    return device ? [{ device, ...candidate }] : []
  })
}
