import { inBoth } from '../queries.ts'
import type { WriteSteps } from './step.ts'

const PURGE = inBoth(
  ({ lockFree }) => `
  DELETE FROM idempotency_key WHERE (owner_no, idempotency_key) IN (
    SELECT owner_no, idempotency_key FROM idempotency_key WHERE created_at <= :olderThan
    ORDER BY created_at LIMIT 500 ${lockFree})`,
)

export const idempotencyKeyWrites: WriteSteps<'purgeIdempotencyKeys'> = {
  /** Purges a batch; two nodes do not wait for each other. */
  purgeIdempotencyKeys: async (queries, { olderThan }) => (await queries.run(PURGE, { olderThan })) > 0,
}
