// What a device may be given when it asks for its next execution.

import type { DeviceKey } from '../../domain/store.ts'
import type { Queries } from './rows.ts'

// Whether a device is there, and ids of what its start-next may be about: what is under way on it, and the first of what
// waits for it.
const CANDIDATES = `
  SELECT place, device_no, execution_id
  FROM unnest($1::int[], $2::text[], $3::int[]) WITH ORDINALITY AS wanted (owner_no, device_id, enough, place)
    JOIN device USING (owner_no, device_id)
    LEFT JOIN LATERAL (
      (SELECT execution_id FROM execution WHERE device_no = device.device_no
         AND state > 'PENDING' AND state <= 'CANCELING' ORDER BY execution_id LIMIT enough)
      UNION ALL
      (SELECT execution_id FROM execution WHERE device_no = device.device_no AND state = 'PENDING'
         AND not_before IS NULL ORDER BY execution_id LIMIT enough)) AS candidate ON true
  WHERE deleted_at IS NULL`

export type Candidate = { device: DeviceKey; deviceNo: number; jobExecutionId: number | null }

/** One for each device that is there, if only without an execution. */
export async function findCandidates(
  queries: Queries,
  wanted: { device: DeviceKey; enough: number }[],
): Promise<Candidate[]> {
  const rows = await queries.query(CANDIDATES, [
    wanted.map(({ device }) => device.ownerNo),
    wanted.map(({ device }) => device.deviceId),
    wanted.map(({ enough }) => enough),
  ])
  return rows.map((row) => ({
    device: (wanted[(row.place as number) - 1] as (typeof wanted)[0]).device,
    deviceNo: row.device_no as number,
    jobExecutionId: row.execution_id as number | null,
  }))
}

export function deviceKeyText({ ownerNo, deviceId }: DeviceKey): string {
  return `${ownerNo} ${deviceId}`
}
