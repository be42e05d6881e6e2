// Runs and executions are numbered over the life of a service. A page shows the numbers of a new service; a reader who
// has triggered something before sees higher ones. So what a page shows is compared without regard to that, and what it runs
// names none of them.

import type { LastIds } from './open-sandbox.ts'

/** Printed text with the numbers that the page has: `Run 7: …` as `Run 1: …`. */
export function documentedIds(printed: string, before: LastIds): string {
  return printed
    .replace(/(\b[Rr]un |#)(\d+)\b/g, (_, word, id) => word + (Number(id) - before.runId))
    .replace(
      /(\bexecution |"jobExecutionId":\s*)(\d+)\b/g,
      (_, word, id) => word + (Number(id) - before.jobExecutionId),
    )
}

/** Commands with a number of a run or an execution in them: on another service it is that of something else. */
export function literalIds(script: string): string[] {
  return script.split('\n').filter((line) => literalId.test(line))
}

const literalId =
  /\b(?:RUN|EXECUTION)=["']?\d|--run[ =]["']?\d|\b(?:runs|executions) [a-z]+ ["']?\d|\/(?:runs|executions)\/\d/
