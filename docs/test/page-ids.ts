// Runs and executions are numbered over the life of a service. A page shows the numbers of a new service; a reader who
// has triggered something before sees higher ones, and is asked to set RUN and EXECUTION to those.

import type { LastIds } from './open-sandbox.ts'

/** Printed text with the numbers that the page has: `Run 7: …` as `Run 1: …`. */
export function documentedIds(printed: string, before: LastIds): string {
  return printed
    .replace(/(\b[Rr]un |#)(\d+)\b/g, (_, word, id) => word + (Number(id) - before.runId))
    .replace(/(\bexecution )(\d+)\b/g, (_, word, id) => word + (Number(id) - before.jobExecutionId))
}

/** A script with the numbers that the reader sees: `RUN=1` as `RUN=7`. */
export function realIds(script: string, before: LastIds): string {
  return script
    .replace(/\b(RUN=)(\d+)\b/g, (_, name, id) => name + (Number(id) + before.runId))
    .replace(/\b(EXECUTION=)(\d+)\b/g, (_, name, id) => name + (Number(id) + before.jobExecutionId))
}
