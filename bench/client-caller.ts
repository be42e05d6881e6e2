// One caller that uses our own client, which sends an Idempotency-Key with each trigger and parses the answer.

import { Jobcast } from '@jobcast/client'
import { fleet } from './fleet.ts'
import { triggerBody, type Work } from './requests.ts'

type ClientOptions = {
  port: number
  apiKey: string
  work: Work
  caller: number
  /** Called for each response; return false to end the calls. */
  onAnswer: (ms: number, bytes: number) => boolean
}

/** Resolves once `onAnswer` returns false; rejects on the first call that fails. */
export async function runClient({ port, apiKey, work, caller, onAnswer }: ClientOptions): Promise<void> {
  const jobcast = new Jobcast({ url: `http://127.0.0.1:${port}`, apiKey })
  const devices = work.kind === 'trigger' ? work.devices : 1
  for (let turn = caller; ; turn++) {
    const begun = performance.now()
    const { executions } = await jobcast.trigger(triggerBody(turn % fleet.length, devices))
    if (!onAnswer(performance.now() - begun, executions.length)) return
  }
}
