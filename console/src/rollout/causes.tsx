// The executions counted by a stop rule or a gate, or all unsuccessful ones if a gate stayed closed for too long.

import type { RolloutProgress, Run } from '@jobcast/client'
import { failedStates, formatCount, stateStyles } from '../parts/exec-state.ts'

const failureRules = ['STOP_RULE', 'GATE_CLOSED', 'GATE_TIMEOUT']

type Props = { run: Run; cause: RolloutProgress['pausedCause'] }

export default function Causes({ run: { runId, counts }, cause }: Props) {
  if (cause === null || !failureRules.includes(cause.rule)) return null
  const { on, executions, count } = cause
  const states = (on.length > 0 ? on : failedStates).filter((state) => counts[state] > 0)
  const total = states.reduce((sum, state) => sum + counts[state], 0)
  if (total === 0) return null
  const unnamed = (count ?? 0) - executions.length
  // Failures accepted by an earlier resume are in the linked list, but not counted.
  const isWhole = count === null || count === total
  return (
    <>
      {executions.length > 0 && (
        <ul class="rollout-causes" aria-label="Devices that caused it">
          {executions.map(({ jobExecutionId, deviceId, execState }) => (
            <li key={jobExecutionId}>
              <a href={`/executions/${jobExecutionId}`}>
                <bdi>{deviceId}</bdi>
              </a>{' '}
              {stateStyles[execState].word}
            </li>
          ))}
          {unnamed > 0 && cause.of !== 'SCHEDULE' && <li>and {formatCount(unnamed)} more</li>}
        </ul>
      )}
      <p>
        <a href={`/executions?runId=${runId}&execState=${states.join()}`}>
          {isWhole
            ? `Show the ${total === 1 ? 'execution' : `${formatCount(total)} executions`} that caused it`
            : 'Show all executions of the run in these states'}
        </a>
      </p>
    </>
  )
}
