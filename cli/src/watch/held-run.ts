// Says what holds back a run that was just triggered: nobody may be watching it.

import type { Explanation, Jobcast } from '@jobcast/client'
import { localTime } from '../output/local-time.ts'
import { plainText } from '../output/text-width.ts'

/** What may hold back a run as a whole, and how a person can end that. */
const holds: Partial<Record<Explanation['code'], (runId: number) => string>> = {
  AWAITING_APPROVAL: (runId) =>
    ` To approve it, with the key of somebody else:  jobcast runs approve ${runId}`,
  SCHEDULED: () => '',
  FROZEN: () => ' To end the freeze:  jobcast fleet unfreeze',
  OUTSIDE_WINDOW: () => '',
}

/**
 * `first`: the execution that is released first. Undefined: nothing holds the run back, or this cannot be read, for example
 * because the key can trigger but not read.
 */
export async function holdText(
  client: Jobcast,
  runId: number,
  first: { jobExecutionId: number } | undefined,
): Promise<string | undefined> {
  try {
    const found = first ?? (await client.executions.list({ runId, limit: 1 }).page()).items[0]
    if (found === undefined) return undefined
    const explanation = await client.executions.explain(found.jobExecutionId)
    const nextStep = holds[explanation.code]
    return nextStep && `${plainText(explanation.text)}${endOf(explanation)}${nextStep(runId)}`
  } catch {
    // The run has been created, whatever this call says.
    return undefined
  }
}

/** The texts of a freeze and of a window have it already. */
function endOf({ code, expiresAt }: Explanation): string {
  if (expiresAt === null || code === 'FROZEN' || code === 'OUTSIDE_WINDOW') return ''
  return ` Its executions end unstarted at ${localTime(expiresAt)}.`
}
