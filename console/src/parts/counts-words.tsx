// "3 failed, 312 succeeded, 25 waiting", with only the failures in the colour of failures.

import { type Counts, countsInWords, failedStates, stateOrder } from './exec-state.ts'

export function CountsWords({ counts }: { counts: Counts }) {
  const words = (isFailure: boolean) => {
    const chosen = stateOrder.filter((state) => failedStates.includes(state) === isFailure)
    return countsInWords(counts, chosen)
  }
  const [failed, others] = [words(true), words(false)]
  return (
    <>
      {failed && <span class="has-failures">{failed}</span>}
      {failed && others && ', '}
      {others}
    </>
  )
}
