// The draft of a run: its options besides the job and its devices, and its plan.

import type { NewRun, RunPlan } from '@jobcast/client'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { queries } from '../../api/queries.ts'
import { useQuery } from '../../api/use-query.ts'
import { emptyParameters, maskGiven, type ParametersDraft } from '../../parameters/parameters-draft.ts'
import { useSettled } from '../../parts/use-settled.ts'
import {
  emptyRollout,
  problemsOf,
  type Rollout,
  type RolloutDraft,
  releaseOf,
} from '../../rollout/rollout-draft.ts'
import { keepRunDraft, keptRunDraft } from './kept-run-draft.ts'
import type { Wanted } from './use-trigger.ts'
import { emptyWhen, type WhenDraft, whenOptions, whenProblems } from './when-draft.ts'

export type RunOptions = Omit<NewRun, 'jobName' | 'targets' | 'planId'>

type RunChoice = {
  jobName: string
  deviceIds: string[]
  /** A selector instead of a list. */
  where: string | undefined
  version: number | undefined
  /** The job has parameters to enter. */
  hasParameters: boolean
  /** The rollout of the job, used unless the draft has its own. */
  defaultRollout: Rollout | undefined
}

export type RunDraft = {
  rollout: RolloutDraft
  setRollout: (draft: RolloutDraft) => void
  /** The rules that the run will have. */
  definition: Rollout
  parameters: ParametersDraft
  setParameters: (draft: ParametersDraft) => void
  when: WhenDraft
  setWhen: (draft: WhenDraft) => void
  /** The options without secrets, for display. */
  shownOptions: RunOptions
  /** The run has more than a job and a list of devices, so it needs a plan. */
  isPlanned: boolean
  /** Undefined while loading. */
  plan: RunPlan | undefined
  planError: unknown
  isPlanning: boolean
  areParametersRight: boolean
  /** The draft has errors, which are shown at their fields. */
  isWrong: boolean
  wanted: Wanted
}

/** Renewed before a plan expires, after ten minutes. */
const planMs = 5 * 60_000

export function useRunDraft(choice: RunChoice): RunDraft {
  const { jobName, deviceIds, where, version, hasParameters, defaultRollout = {} } = choice
  const [kept] = useState(keptRunDraft)
  const [rollout, setRollout] = useState(kept?.rollout ?? emptyRollout)
  const [parameters, setParameters] = useState(kept?.parameters ?? emptyParameters)
  const [when, setWhen] = useState(kept?.when ?? emptyWhen)
  const of = `${jobName} ${version ?? ''}`
  const parametersOf = useRef(kept?.of ?? of)
  // Parameters of another job do not apply.
  useEffect(() => {
    if (parametersOf.current !== of) setParameters(emptyParameters)
    parametersOf.current = of
  }, [of])
  useEffect(() => keepRunDraft({ rollout, parameters, when, of }), [rollout, parameters, when, of])
  const areParametersRight = !hasParameters || parameters.isRight
  const problems = { ...problemsOf(rollout), ...whenProblems(when) }
  const isWrong = Object.keys(problems).length > 0 || !areParametersRight
  const draft = useMemo(() => ({ rollout, parameters, when }), [rollout, parameters, when])
  const settled = useSettled(draft)
  const options = useMemo(
    () => (isWrong ? {} : optionsOf(settled, version, settled.parameters.given)),
    [settled, isWrong, version],
  )
  const shownOptions = useMemo(
    () => (isWrong ? {} : optionsOf(settled, version, maskGiven(settled.parameters))),
    [settled, isWrong, version],
  )
  const run = useMemo(
    () => ({ jobName, targets: where === undefined ? { deviceIds } : { where }, ...options }),
    [jobName, deviceIds, where, options],
  )
  const isPlanned = where !== undefined || rollout.isOn || Object.keys(options).length > 0
  const isSettled = settled === draft && !isWrong
  const plan = useQuery({
    ...queries.runPlan(run),
    enabled: jobName !== '' && isSettled && isPlanned && (where !== undefined || deviceIds.length > 0),
    refetchInterval: planMs,
  })
  // While the user types, there is no current plan.
  const shownPlan = isSettled ? plan.data : undefined
  const planId = shownPlan?.planId
  const wanted = useMemo(
    () => (isPlanned ? (planId === undefined ? run : { planId }) : { jobName, deviceIds }),
    [jobName, deviceIds, isPlanned, run, planId],
  )
  return {
    ...{ rollout, setRollout, parameters, setParameters, when, setWhen },
    ...{ shownOptions, areParametersRight, isWrong, wanted },
    definition: options.rollout ?? defaultRollout,
    isPlanned,
    plan: shownPlan,
    planError: plan.error,
    isPlanning: plan.isEnabled && plan.isPending,
  }
}

type Settled = { rollout: RolloutDraft; parameters: ParametersDraft; when: WhenDraft }

function optionsOf(
  { rollout, when }: Settled,
  version: number | undefined,
  parameters: Record<string, unknown>,
): RunOptions {
  return {
    ...(version !== undefined && { version }),
    ...(Object.keys(parameters).length > 0 && { parameters }),
    ...whenOptions(when),
    ...releaseOf(rollout),
  }
}
